// Cross entropy of a row of logits and its gradient: one workgroup a row. A row with a negative label counts nothing.
#include "common/tensor.wgsl" NAME=logits BINDING=0 DTYPE=${X} ACCESS=read
#include "common/tensor.wgsl" NAME=labels BINDING=1 DTYPE=${L} ACCESS=read
@group(0) @binding(2) var<storage, read_write> losses: array<f32>;
@group(0) @binding(3) var<storage, read_write> stats: array<vec2<f32>>;
struct Params {
  rows: u32,
  classes: u32,
  valid: f32,
}
@group(0) @binding(4) var<uniform> p: Params;
var<workgroup> peaks: array<f32, ${LANES}>;
#include "common/reduce.wgsl" T=f32

@compute @workgroup_size(${LANES})
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let row = min(workgroup.y * groups.x + workgroup.x, p.rows - 1u);
  let first = row * p.classes;
  var peak = logits_load(first);
  for (var i = lane; i < p.classes; i += ${LANES}u) { peak = max(peak, logits_load(first + i)); }
  peaks[lane] = peak;
  workgroupBarrier();
  for (var half = ${LANES}u / 2u; half > 0u; half = half / 2u) {
    if (lane < half) { peaks[lane] = max(peaks[lane], peaks[lane + half]); }
    workgroupBarrier();
  }
  peak = peaks[0];
  var sum = 0.0;
  for (var i = lane; i < p.classes; i += ${LANES}u) { sum += exp(logits_load(first + i) - peak); }
  sum = total(sum, lane);
  if (lane == 0u) {
    let label = labels_load(row);
    let picked = logits_load(first + u32(clamp(label, 0, i32(p.classes) - 1)));
    losses[row] = select((log(sum) + peak - picked) / p.valid, 0.0, label < 0);
    stats[row] = vec2<f32>(peak, sum);
  }
}
