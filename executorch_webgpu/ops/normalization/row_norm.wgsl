// Layer and group norm of one contiguous row of n elements by one workgroup: mean, then variance, then the result.
// Row r starts at r * n; the channel of flat element i is (i / channel_size) % channel_count. Elements are written one by
// one in float32, by quads (n is a multiple of 4 then) in float16.
#include "common/grid.wgsl"
#include "common/special.wgsl"
#include "elementwise/math.wgsl"
#include "common/tensor.wgsl" NAME=x BINDING=0 DTYPE=${X} ACCESS=read
#include "common/tensor.wgsl" NAME=out BINDING=1 DTYPE=${X} ACCESS=read_write
#include "common/tensor.wgsl" NAME=mean BINDING=2 DTYPE=float32 ACCESS=read_write
#include "common/tensor.wgsl" NAME=rstd BINDING=3 DTYPE=float32 ACCESS=read_write
#if WEIGHT
#include "common/tensor.wgsl" NAME=weight BINDING=4 DTYPE=${WEIGHT} ACCESS=read
#endif
#if BIAS
#include "common/tensor.wgsl" NAME=bias BINDING=5 DTYPE=${BIAS} ACCESS=read
#endif
struct Params {
  rows: u32,
  n: u32,
  channel_size: u32,
  channel_count: u32,
  eps: f32,
}
@group(0) @binding(6) var<uniform> p: Params;

const LANES = ${LANES}u;
#include "normalization/row_sum.wgsl"

fn scaled(value: f32, center: f32, scale: f32, i: u32) -> f32 {
  var y = (value - center) * scale;
#if WEIGHT
  y = y * weight_load((i / p.channel_size) % p.channel_count);
#endif
#if BIAS
  y = y + bias_load((i / p.channel_size) % p.channel_count);
#endif
  return y;
}

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let row = flat_id(workgroup, groups, 0u, 1u);
  // A row too many has no elements: it passes the barriers and writes nothing.
  let n = select(0u, p.n, row < p.rows);
  let base = row * p.n;
  var sum = 0.0;
  for (var j = local; j < n; j += LANES) { sum += x_load(base + j); }
  let center = row_sum(sum, local) / f32(p.n);
  sum = 0.0;
  for (var j = local; j < n; j += LANES) {
    let d = x_load(base + j) - center;
    sum += d * d;
  }
  let scale = exact_rsqrt(row_sum(sum, local) / f32(p.n) + p.eps);
#if X == float32
  for (var j = local; j < n; j += LANES) { out[base + j] = scaled(x[base + j], center, scale, base + j); }
#else
  for (var q = local; q < n / 4u; q += LANES) {
    let i = base + q * 4u;
    let a = x_quad(i / 4u);
    out_put(i / 4u, vec4<f32>(
      scaled(a.x, center, scale, i), scaled(a.y, center, scale, i + 1u),
      scaled(a.z, center, scale, i + 2u), scaled(a.w, center, scale, i + 3u)));
  }
#endif
  if (local == 0u && row < p.rows) {
    mean[row] = center;
    rstd[row] = scale;
  }
}
