// Convolution of int8 x [B, C, H, W] with int8 weights and a scale a filter, to int8: one invocation makes four
// consecutive outputs. LAYOUT rows: weights [O, KH * KW * C/groups or more]; channels: depthwise, weights [KH, KW, C].
// TRANSPOSED gathers for each output the inputs that reach it. Padding holds the zero point and adds nothing.
#include "common/grid.wgsl"
#include "common/tensor.wgsl" NAME=x BINDING=0 DTYPE=int8 ACCESS=read
#include "common/tensor.wgsl" NAME=weight BINDING=1 DTYPE=int8 ACCESS=read
#include "common/tensor.wgsl" NAME=scales BINDING=2 DTYPE=${S} ACCESS=read
#include "common/tensor.wgsl" NAME=out BINDING=3 DTYPE=${OUT} ACCESS=read_write
#if BIAS
#include "common/tensor.wgsl" NAME=bias BINDING=4 DTYPE=${BIAS} ACCESS=read
#endif
struct Params {
  count: u32,
  channels: u32,
  height: u32,
  width: u32,
  filters: u32,
  out_height: u32,
  out_width: u32,
  depth: u32,
  share: u32,
  weight_stride: u32,
  kernel: vec2<u32>,
  stride: vec2<u32>,
  padding: vec2<u32>,
  dilation: vec2<u32>,
  x_zero: i32,
  x_scale: f32,
  out_inverse: f32,
  out_zero: f32,
}
@group(0) @binding(5) var<uniform> p: Params;
#include "linear8/requantize.wgsl"

// The input position that kernel position k of output position o reads, or -1.
fn source(o: u32, k: u32, size: u32, stride: u32, padding: u32, dilation: u32) -> i32 {
#if TRANSPOSED
  let reach = i32(o + padding) - i32(k * dilation);
  if (reach < 0 || reach % i32(stride) != 0) { return -1; }
  let i = reach / i32(stride);
#else
  let i = i32(o * stride + k * dilation) - i32(padding);
#endif
  return select(-1, i, i >= 0 && i < i32(size));
}

fn value(i: u32) -> f32 {
  let column = i % p.out_width;
  let row = (i / p.out_width) % p.out_height;
  let filter_index = (i / (p.out_width * p.out_height)) % p.filters;
  let batch = i / (p.out_width * p.out_height * p.filters);
  let first = batch * p.channels + (filter_index / p.share) * p.depth;
  var sum = 0;
  for (var ky = 0u; ky < p.kernel.x; ky++) {
    let y = source(row, ky, p.height, p.stride.x, p.padding.x, p.dilation.x);
    if (y < 0) { continue; }
    for (var kx = 0u; kx < p.kernel.y; kx++) {
      let x_at = source(column, kx, p.width, p.stride.y, p.padding.y, p.dilation.y);
      if (x_at < 0) { continue; }
      let at = (first * p.height + u32(y)) * p.width + u32(x_at);
      let tap = ky * p.kernel.y + kx;
#if LAYOUT == channels
      sum += (x_load(at) - p.x_zero) * weight_load(tap * p.filters + filter_index);
#else
      let w = filter_index * p.weight_stride + tap * p.depth;
      for (var c = 0u; c < p.depth; c++) {
        sum += (x_load(at + c * p.height * p.width) - p.x_zero) * weight_load(w + c);
      }
#endif
    }
  }
  var v = f32(sum) * (p.x_scale * scales_load(filter_index));
#if BIAS
  v += bias_load(filter_index);
#endif
#if RELU
  v = max(v, 0.0);
#endif
  return v;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q * 4u >= p.count) { return; }
  var v: vec4<f32>;
  for (var k = 0u; k < 4u; k++) { v[k] = value(min(q * 4u + k, p.count - 1u)); }
#if OUT == int8
  out_put(q, requantize(v, p.out_inverse, p.out_zero));
#else
  out_put(q, v);
#endif
}
