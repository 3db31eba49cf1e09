// out [N, K] = gradient^T x over M rows, for halves whose rows are not whole quads: one invocation a quad.
#include "common/grid.wgsl"
#include "common/tensor.wgsl" NAME=gradient BINDING=0 DTYPE=${X} ACCESS=read
#include "common/tensor.wgsl" NAME=x BINDING=1 DTYPE=${X} ACCESS=read
#include "common/tensor.wgsl" NAME=out BINDING=2 DTYPE=${X} ACCESS=read_write
struct Params {
  rows: u32,
  outputs: u32,
  columns: u32,
}
@group(0) @binding(3) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  let count = p.outputs * p.columns;
  if (q * 4u >= count) { return; }
  var v = vec4<f32>(0.0);
  for (var k = 0u; k < 4u; k++) {
    let i = min(q * 4u + k, count - 1u);
    for (var row = 0u; row < p.rows; row++) {
      v[k] += gradient_load(row * p.outputs + i / p.columns) * x_load(row * p.columns + i % p.columns);
    }
  }
  out_put(q, v);
}
