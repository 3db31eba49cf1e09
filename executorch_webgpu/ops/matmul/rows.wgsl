// A product with few rows, at most ROWS (1 or 4), and `b` as [n, k]: a workgroup makes 4 columns, its threads run along
// k together and add up at the end. Every weight is read once.
#include "matmul/params.wgsl"
#include "matmul/load.wgsl"
#include "matmul/store.wgsl"

var<workgroup> sums: array<vec4<f32>, 256>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let n = workgroup.x * 4u;
  let z = workgroup.z;
  let start = z * p.b_batch + n * p.k;
  let row = z % p.period * p.a_batch;
  var c0 = vec4<f32>();
  var c1 = vec4<f32>();
  var c2 = vec4<f32>();
  var c3 = vec4<f32>();
  for (var k = local * 4u; k < p.k; k += 256u) {
    let b0 = load_b_column(start, n, k, p.k);
    let b1 = load_b_column(start + p.k, n + 1u, k, p.k);
    let b2 = load_b_column(start + 2u * p.k, n + 2u, k, p.k);
    let b3 = load_b_column(start + 3u * p.k, n + 3u, k, p.k);
    let a0 = load_a(row, 0u, k, p.k);
    c0 += vec4<f32>(dot(a0, b0), dot(a0, b1), dot(a0, b2), dot(a0, b3));
#if ROWS != 1
    let a1 = load_a(row + p.k, 1u, k, p.k);
    c1 += vec4<f32>(dot(a1, b0), dot(a1, b1), dot(a1, b2), dot(a1, b3));
    let a2 = load_a(row + 2u * p.k, 2u, k, p.k);
    c2 += vec4<f32>(dot(a2, b0), dot(a2, b1), dot(a2, b2), dot(a2, b3));
    let a3 = load_a(row + 3u * p.k, 3u, k, p.k);
    c3 += vec4<f32>(dot(a3, b0), dot(a3, b1), dot(a3, b2), dot(a3, b3));
#endif
  }
  sums[local] = c0;
#if ROWS != 1
  sums[64u + local] = c1;
  sums[128u + local] = c2;
  sums[192u + local] = c3;
#endif
  for (var half = 32u; half > 0u; half >>= 1u) {
    workgroupBarrier();
    if (local < half) {
      sums[local] += sums[local + half];
#if ROWS != 1
      sums[64u + local] += sums[64u + local + half];
      sums[128u + local] += sums[128u + local + half];
      sums[192u + local] += sums[192u + local + half];
#endif
    }
  }
  workgroupBarrier();
  if (local < ${ROWS}u) { store(z, local, n, sums[local * 64u]); }
}
