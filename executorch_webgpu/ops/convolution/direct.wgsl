// Convolution value by value over [batch, channels, height, width], for what the other kernels do not serve: few
// channels a group, and with TRANSPOSED the transposed convolution. Weights are [out, in / groups, kh, kw], transposed
// [in, out / groups, kh, kw].
#include "common/grid.wgsl"
#include "common/special.wgsl"
#include "common/tensor.wgsl" NAME=x BINDING=0 DTYPE=${X} ACCESS=read
#include "common/tensor.wgsl" NAME=weight BINDING=1 DTYPE=${W} ACCESS=read
#include "common/tensor.wgsl" NAME=out BINDING=2 DTYPE=${OUT} ACCESS=read_write
#if BIAS
#include "common/tensor.wgsl" NAME=bias BINDING=3 DTYPE=${BIAS} ACCESS=read
#endif
struct Params {
  quads: u32,
  count: u32,
  channels: i32,
  out_channels: i32,
  groups: i32,
  low: f32,
  high: f32,
  size: vec2<i32>,
  out_size: vec2<i32>,
  kernel: vec2<i32>,
  stride: vec2<i32>,
  padding: vec2<i32>,
  dilation: vec2<i32>,
}
@group(0) @binding(4) var<uniform> p: Params;

fn element(flat: u32) -> f32 {
  let i = i32(min(flat, p.count - 1u));
  let column = i % p.out_size.y;
  let rows = i / p.out_size.y;
  let row = rows % p.out_size.x;
  let planes = rows / p.out_size.x;
  let channel = planes % p.out_channels;
  let batch = planes / p.out_channels;
  let ins = p.channels / p.groups;
  let outs = p.out_channels / p.groups;
  let group = channel / outs;
  let taps = p.kernel.x * p.kernel.y;
  let plane = p.size.x * p.size.y;
  var sum = 0.0;
  for (var kh = 0; kh < p.kernel.x; kh++) {
    for (var kw = 0; kw < p.kernel.y; kw++) {
#if TRANSPOSED
      let reach = vec2<i32>(row, column) + p.padding - vec2<i32>(kh, kw) * p.dilation;
      let at = reach / p.stride;
      if (any(reach < vec2<i32>(0)) || any(at * p.stride != reach) || any(at >= p.size)) { continue; }
#else
      let at = vec2<i32>(row, column) * p.stride - p.padding + vec2<i32>(kh, kw) * p.dilation;
      if (any(at < vec2<i32>(0)) || any(at >= p.size)) { continue; }
#endif
      var source = (batch * p.channels + group * ins) * plane + at.x * p.size.y + at.y;
#if TRANSPOSED
      var place = (group * ins * outs + channel - group * outs) * taps + kh * p.kernel.y + kw;
      let step = outs * taps;
#else
      var place = channel * ins * taps + kh * p.kernel.y + kw;
      let step = taps;
#endif
      for (var c = 0; c < ins; c++) {
        sum += x_load(u32(source)) * weight_load(u32(place));
        source += plane;
        place += step;
      }
    }
  }
#if BIAS
  sum += bias_load(u32(channel));
#endif
  if (is_nan(sum)) { return sum; }
  return clamp(sum, p.low, p.high);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q >= p.quads) { return; }
  let i = q * 4u;
  out_put(q, vec4<f32>(element(i), element(i + 1u), element(i + 2u), element(i + 3u)));
}
