// (softmax - onehot) / valid for rows whose peak and sum are known, 0 for rows with a negative label; one invocation
// makes four elements, the first one the loss as well.
#include "common/grid.wgsl"
#include "common/tensor.wgsl" NAME=logits BINDING=0 DTYPE=${X} ACCESS=read
#include "common/tensor.wgsl" NAME=labels BINDING=1 DTYPE=${L} ACCESS=read
@group(0) @binding(2) var<storage, read> losses: array<f32>;
@group(0) @binding(3) var<storage, read> stats: array<vec2<f32>>;
#include "common/tensor.wgsl" NAME=loss BINDING=4 DTYPE=${X} ACCESS=read_write
#include "common/tensor.wgsl" NAME=gradient BINDING=5 DTYPE=${X} ACCESS=read_write
struct Params {
  count: u32,
  rows: u32,
  classes: u32,
  valid: f32,
}
@group(0) @binding(6) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q == 0u) {
    var sum = 0.0;
    for (var row = 0u; row < p.rows; row++) { sum += losses[row]; }
    loss_put(0u, vec4<f32>(sum));
  }
  if (q * 4u >= p.count) { return; }
  var v: vec4<f32>;
  for (var k = 0u; k < 4u; k++) {
    let i = min(q * 4u + k, p.count - 1u);
    let row = i / p.classes;
    let label = labels_load(row);
    let part = stats[row];
    let hit = select(0.0, 1.0, i32(i % p.classes) == label);
    v[k] = select((exp(logits_load(i) - part.x) / part.y - hit) / p.valid, 0.0, label < 0);
  }
  gradient_put(q, v);
}
