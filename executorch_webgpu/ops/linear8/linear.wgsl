// out = x W^T scale + bias for int8 weights [N, K] with a scale a row: LANES invocations make four consecutive outputs.
// INTEGER: x is int8 and the sum is one of integers, sums holding each row's sum of weights. REQUANTIZE: out is int8.
// WORDS: K is a multiple of four, so that four columns of a row are one word.
#include "common/grid.wgsl"
#include "common/tensor.wgsl" NAME=x BINDING=0 DTYPE=${X} ACCESS=read VEC4=${WORDS}
#include "common/tensor.wgsl" NAME=weight BINDING=1 DTYPE=int8 ACCESS=read
#include "common/tensor.wgsl" NAME=scales BINDING=2 DTYPE=${S} ACCESS=read
#include "common/tensor.wgsl" NAME=out BINDING=3 DTYPE=${OUT} ACCESS=read_write
#if INTEGER
@group(0) @binding(4) var<storage, read> sums: array<i32>;
#endif
#if BIAS
#include "common/tensor.wgsl" NAME=bias BINDING=5 DTYPE=${BIAS} ACCESS=read
#endif
struct Params {
  count: u32,
  outputs: u32,
  columns: u32,
  x_zero: i32,
  x_scale: f32,
  out_inverse: f32,
  out_zero: f32,
}
@group(0) @binding(6) var<uniform> p: Params;
#include "linear8/requantize.wgsl"

const LANES: u32 = ${LANES}u;
#if LANES != 1
var<workgroup> parts: array<vec4<${SUM}>, 64>;
#endif

fn partial_sum(row: u32, n: u32, lane: u32) -> ${SUM} {
  var sum = ${SUM}(0);
#if WORDS
  let words = p.columns / 4u;
  for (var k = lane; k < words; k += LANES) {
#if INTEGER
    sum += dot4I8Packed(x[row * words + k], weight[n * words + k]);
#else
    sum += dot(x_quad(row * words + k), vec4<f32>(weight_quad(n * words + k)));
#endif
  }
#else
  for (var k = lane; k < p.columns; k += LANES) {
    sum += x_load(row * p.columns + k) * ${SUM}(weight_load(n * p.columns + k));
  }
#endif
  return sum;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let lane = local % LANES;
  let q = flat_id(workgroup, groups, local / LANES, 64u / LANES);
  let last = p.count - 1u;
  let i = vec4<u32>(min(q * 4u, last), min(q * 4u + 1u, last), min(q * 4u + 2u, last), min(q * 4u + 3u, last));
  let row = i / vec4<u32>(p.outputs);
  let n = i % vec4<u32>(p.outputs);
  var sum = vec4<${SUM}>(partial_sum(row.x, n.x, lane), partial_sum(row.y, n.y, lane),
                         partial_sum(row.z, n.z, lane), partial_sum(row.w, n.w, lane));
#if LANES != 1
  parts[local] = sum;
  workgroupBarrier();
  if (lane == 0u) {
    for (var other = 1u; other < LANES; other++) { sum += parts[local + other]; }
  }
#endif
  if (lane == 0u && q * 4u < p.count) {
    let factor = vec4<f32>(scales_load(n.x), scales_load(n.y), scales_load(n.z), scales_load(n.w));
#if INTEGER
    let correction = p.x_zero * vec4<i32>(sums[n.x], sums[n.y], sums[n.z], sums[n.w]);
    var v = vec4<f32>(sum - correction) * (p.x_scale * factor);
#else
    var v = sum * factor;
#endif
#if BIAS
    v += vec4<f32>(bias_load(n.x), bias_load(n.y), bias_load(n.z), bias_load(n.w));
#endif
#if RELU
    v = max(v, vec4<f32>(0.0));
#endif
#if REQUANTIZE
    out_put(q, requantize(v, p.out_inverse, p.out_zero));
#else
    out_put(q, v);
#endif
  }
}
