// The anchor points of a feature map, row by row: out[y * width + x] = ((x + offset) * stride, (y + offset) * stride).
#include "common/grid.wgsl"
#include "common/tensor.wgsl" NAME=out BINDING=0 DTYPE=${OUT} ACCESS=read_write
struct Params {
  quads: u32,
  width: u32,
  stride: f32,
  offset: f32,
}
@group(0) @binding(1) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q >= p.quads) { return; }
  let points = vec2<u32>(q * 2u, q * 2u + 1u);
  let x = (vec2<f32>(points % p.width) + p.offset) * p.stride;
  let y = (vec2<f32>(points / p.width) + p.offset) * p.stride;
  out_put(q, vec4<out_t>(vec4<f32>(x.x, y.x, x.y, y.y)));
}
