// out = (x - mean[s]) * rstd[s] * weight[c] + bias[c], element by element, with s = (i / stat_size) % stat_count and
// c = (i / channel_size) % channel_count. With VARIANCE the second statistic is a variance still.
#include "common/grid.wgsl"
#include "common/special.wgsl"
#include "elementwise/math.wgsl"
#include "common/tensor.wgsl" NAME=x BINDING=0 DTYPE=${X} ACCESS=read
#include "common/tensor.wgsl" NAME=out BINDING=1 DTYPE=${X} ACCESS=read_write
#include "common/tensor.wgsl" NAME=mean BINDING=2 DTYPE=${MEAN} ACCESS=read
#include "common/tensor.wgsl" NAME=deviation BINDING=3 DTYPE=${DEVIATION} ACCESS=read
#if WEIGHT
#include "common/tensor.wgsl" NAME=weight BINDING=4 DTYPE=${WEIGHT} ACCESS=read
#endif
#if BIAS
#include "common/tensor.wgsl" NAME=bias BINDING=5 DTYPE=${BIAS} ACCESS=read
#endif
struct Params {
  count: u32,
  quads: u32,
  stat_size: u32,
  stat_count: u32,
  channel_size: u32,
  channel_count: u32,
  eps: f32,
}
@group(0) @binding(6) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q >= p.quads) { return; }
  let a = x_quad(q);
  var result: vec4<f32>;
  for (var k = 0u; k < 4u; k++) {
    let i = min(q * 4u + k, p.count - 1u);
    let s = (i / p.stat_size) % p.stat_count;
    let c = (i / p.channel_size) % p.channel_count;
#if VARIANCE
    let scale = exact_rsqrt(deviation_load(s) + p.eps);
#else
    let scale = deviation_load(s);
#endif
    var y = (a[k] - mean_load(s)) * scale;
#if WEIGHT
    y = y * weight_load(c);
#endif
#if BIAS
    y = y + bias_load(c);
#endif
    result[k] = y;
  }
  out_put(q, result);
}
