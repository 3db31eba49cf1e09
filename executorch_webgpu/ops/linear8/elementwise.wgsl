// Elementwise operators on int8 values: dequantize, OP, quantize again; one invocation makes four elements.
// OP add: x + alpha y; relu: max(x, 0); shuffle: x moved as pixel_shuffle does.
#include "common/grid.wgsl"
#include "common/tensor.wgsl" NAME=x BINDING=0 DTYPE=int8 ACCESS=read
#include "common/tensor.wgsl" NAME=out BINDING=1 DTYPE=int8 ACCESS=read_write
#if OP == add
#include "common/broadcast.wgsl"
#include "common/tensor.wgsl" NAME=y BINDING=2 DTYPE=int8 ACCESS=read
#endif
struct Params {
  count: u32,
  x_scale: f32,
  x_zero: f32,
  out_inverse: f32,
  out_zero: f32,
#if OP == add
  y_scale: f32,
  y_zero: f32,
  alpha: f32,
  rank: u32,
  out_dims: array<vec4<u32>, 2>,
  x_strides: array<vec4<u32>, 2>,
  y_strides: array<vec4<u32>, 2>,
#endif
#if OP == shuffle
  factor: u32,
  height: u32,
  width: u32,
#endif
}
@group(0) @binding(3) var<uniform> p: Params;
#include "linear8/requantize.wgsl"

fn value(i: u32) -> f32 {
#if OP == add
  let a = (f32(x_load(broadcast_index(i, p.out_dims, p.x_strides, p.rank))) - p.x_zero) * p.x_scale;
  let b = (f32(y_load(broadcast_index(i, p.out_dims, p.y_strides, p.rank))) - p.y_zero) * p.y_scale;
  return a + p.alpha * b;
#elif OP == relu
  return max((f32(x_load(i)) - p.x_zero) * p.x_scale, 0.0);
#else
  let r = p.factor;
  let column = i % (p.width * r);
  let row = (i / (p.width * r)) % (p.height * r);
  let channel = i / (p.width * p.height * r * r);
  let at = ((channel * r + row % r) * r + column % r) * p.height + row / r;
  return (f32(x_load(at * p.width + column / r)) - p.x_zero) * p.x_scale;
#endif
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q * 4u >= p.count) { return; }
  var v: vec4<f32>;
  for (var k = 0u; k < 4u; k++) { v[k] = value(min(q * 4u + k, p.count - 1u)); }
  out_put(q, requantize(v, p.out_inverse, p.out_zero));
}
