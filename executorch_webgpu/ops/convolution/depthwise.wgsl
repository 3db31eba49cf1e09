// Depthwise convolution: each output channel reads one input channel. KERNEL_H x KERNEL_W is fixed so that the taps
// unroll. An invocation makes 4 neighbours in memory; with ROW these lie in one row (the width is a multiple of 4), and
// with ONE (float32 only) it makes a single value, for small images.
#include "common/grid.wgsl"
#include "common/special.wgsl"
#include "common/tensor.wgsl" NAME=x BINDING=0 DTYPE=${X} ACCESS=read
#include "common/tensor.wgsl" NAME=weight BINDING=1 DTYPE=${W} ACCESS=read
#include "common/tensor.wgsl" NAME=out BINDING=2 DTYPE=${OUT} ACCESS=read_write
#if BIAS
#include "common/tensor.wgsl" NAME=bias BINDING=3 DTYPE=${BIAS} ACCESS=read
#endif
struct Params {
  invocations: u32,
  count: u32,
  out_channels: u32,
  multiplier: u32,
  low: f32,
  high: f32,
  size: vec2<u32>,
  out_size: vec2<u32>,
  stride: vec2<i32>,
  padding: vec2<i32>,
  dilation: vec2<i32>,
}
@group(0) @binding(4) var<uniform> p: Params;

const KERNEL = vec2<u32>(${KERNEL_H}u, ${KERNEL_W}u);

fn finish(channel: u32, value: f32) -> f32 {
  var v = value;
#if BIAS
  v += bias_load(channel);
#endif
  if (is_nan(v)) { return v; }
  return clamp(v, p.low, p.high);
}

// Where the input channel of an output plane begins: planes are counted over the batch.
fn input_plane(plane: u32) -> u32 { return plane / p.multiplier * p.size.x * p.size.y; }

#if ROW
fn make(q: u32) {
  let i = q * 4u;
  let rows = i / p.out_size.y;
  let column = i - rows * p.out_size.y;
  let plane = rows / p.out_size.x;
  let row = rows - plane * p.out_size.x;
  let channel = plane % p.out_channels;
  let start = input_plane(plane);
  let y0 = i32(row) * p.stride.x - p.padding.x;
  let x0 = vec4<i32>(vec4<u32>(column, column + 1u, column + 2u, column + 3u)) * p.stride.y - p.padding.y;
  var tap = channel * (KERNEL.x * KERNEL.y);
  var sum = vec4<f32>();
  for (var kh = 0u; kh < KERNEL.x; kh++) {
    let y = u32(y0 + i32(kh) * p.dilation.x);
    for (var kw = 0u; kw < KERNEL.y; kw++) {
      let at = vec4<u32>(x0 + i32(kw) * p.dilation.y);
      // A negative coordinate is a huge unsigned one.
      let inside = (at < vec4<u32>(p.size.y)) & vec4<bool>(y < p.size.x);
      let places = select(vec4<u32>(), start + y * p.size.y + at, inside);
      let v = vec4<f32>(x_load(places.x), x_load(places.y), x_load(places.z), x_load(places.w));
      sum += weight_load(tap) * select(vec4<f32>(), v, inside);
      tap++;
    }
  }
  out_put(q, vec4<f32>(finish(channel, sum.x), finish(channel, sum.y), finish(channel, sum.z), finish(channel, sum.w)));
}
#else
fn element(flat: u32) -> f32 {
  let i = min(flat, p.count - 1u);
  let rows = i / p.out_size.y;
  let column = i - rows * p.out_size.y;
  let plane = rows / p.out_size.x;
  let row = rows - plane * p.out_size.x;
  let channel = plane % p.out_channels;
  let start = input_plane(plane);
  let corner = vec2<i32>(vec2<u32>(row, column)) * p.stride - p.padding;
  var tap = channel * (KERNEL.x * KERNEL.y);
  var sum = 0.0;
  for (var kh = 0u; kh < KERNEL.x; kh++) {
    for (var kw = 0u; kw < KERNEL.y; kw++) {
      let at = vec2<u32>(corner + vec2<i32>(vec2<u32>(kh, kw)) * p.dilation);
      let inside = all(at < p.size);
      let v = x_load(select(0u, start + at.x * p.size.y + at.y, inside));
      sum += weight_load(tap) * select(0.0, v, inside);
      tap++;
    }
  }
  return finish(channel, sum);
}

fn make(q: u32) {
#if ONE
  out[q] = element(q);
#else
  let i = q * 4u;
  out_put(q, vec4<f32>(element(i), element(i + 1u), element(i + 2u), element(i + 3u)));
#endif
}
#endif

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q < p.invocations) { make(q); }
}
