// Sums one value of each of the LANES invocations of a workgroup; all of them must call it, and all get the sum.
var<workgroup> row_partial: array<f32, LANES>;
fn row_sum(value: f32, local: u32) -> f32 {
  row_partial[local] = value;
  workgroupBarrier();
  for (var width = LANES / 2u; width > 0u; width = width / 2u) {
    if (local < width) { row_partial[local] += row_partial[local + width]; }
    workgroupBarrier();
  }
  let total = row_partial[0];
  workgroupBarrier();
  return total;
}
