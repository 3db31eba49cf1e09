// out = x / sqrt(mean(x^2) + eps) * weight for half-precision rows that are not whole quads: one invocation a quad,
// each summing the rows that its quad touches.
#include "common/grid.wgsl"
#include "common/tensor.wgsl" NAME=x BINDING=0 DTYPE=${X} ACCESS=read
#include "common/tensor.wgsl" NAME=weight BINDING=1 DTYPE=${W} ACCESS=read
#include "common/tensor.wgsl" NAME=out BINDING=2 DTYPE=${X} ACCESS=read_write
struct Params {
  count: u32,
  width: u32,
  eps: f32,
}
@group(0) @binding(3) var<uniform> p: Params;

fn row_factor(row: u32) -> f32 {
  var squares = 0.0;
  for (var i = 0u; i < p.width; i++) {
    let v = x_load(row * p.width + i);
    squares += v * v;
  }
  return 1.0 / sqrt(squares / f32(p.width) + p.eps);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q * 4u >= p.count) { return; }
  var result: vec4<f32>;
  var row = 0xffffffffu;
  var factor = 0.0;
  for (var k = 0u; k < 4u; k++) {
    let i = min(q * 4u + k, p.count - 1u);
    if (i / p.width != row) {
      row = i / p.width;
      factor = row_factor(row);
    }
    result[k] = x_load(i) * factor * weight_load(i % p.width);
  }
  out_put(q, result);
}
