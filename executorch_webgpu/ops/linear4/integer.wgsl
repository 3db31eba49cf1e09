// out = x W^T + bias for x quantized to int8 a row and 4-bit weights, summed in integers a group: an invocation makes
// ROWS rows of four consecutive outputs, so that every word of weights and of x is used several times.
@group(0) @binding(0) var<storage, read> packed: array<vec2<u32>>;
#include "common/tensor.wgsl" NAME=x_scales BINDING=1 DTYPE=${XS} ACCESS=read
#include "common/tensor.wgsl" NAME=x_zeros BINDING=2 DTYPE=${Z} ACCESS=read
@group(0) @binding(3) var<storage, read> weight: array<u32>;
@group(0) @binding(4) var<storage, read> sums: array<i32>;
#include "common/tensor.wgsl" NAME=scales BINDING=5 DTYPE=${S} ACCESS=read
#include "common/tensor.wgsl" NAME=out BINDING=6 DTYPE=${OUT} ACCESS=read_write
#if BIAS
#include "common/tensor.wgsl" NAME=bias BINDING=7 DTYPE=${BIAS} ACCESS=read
#endif
struct Params {
  rows: u32,
  outputs: u32,
  words: u32,
  group_words: u32,
  scale_stride: u32,
  sum_stride: u32,
}
@group(0) @binding(8) var<uniform> p: Params;

const LANES: u32 = ${LANES}u;
#if LANES != 1
var<workgroup> shared_sums: array<vec4<f32>, 256>;
#endif

fn product(x: vec2<u32>, w: u32) -> i32 {
  let low = vec2<u32>(0x0f0f0f0fu);
  let n = vec2<u32>(w, w >> 4u) & low;
  return dot4I8Packed(x.x, n.x) + dot4I8Packed(x.y, n.y);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  // 64 / LANES sets of four outputs; LANES invocations share a set and take every LANES-th group.
  let lane = local % LANES;
  let n = (workgroup.x * (64u / LANES) + local / LANES) * 4u;
  let row_0 = workgroup.y * ${ROWS}u;
  let last = p.outputs - 1u;
  let at = vec4<u32>(min(n, last), min(n + 1u, last), min(n + 2u, last), min(n + 3u, last));
  let first = at * vec4<u32>(p.words);
  var totals = array<vec4<f32>, ${ROWS}>();
  var zero: array<i32, ${ROWS}>;
  for (var r = 0u; r < ${ROWS}u; r++) { zero[r] = i32(x_zeros_load(min(row_0 + r, p.rows - 1u))); }
  let groups = (p.words + p.group_words - 1u) / p.group_words;
  for (var g = lane; g < groups; g += LANES) {
    var parts = array<vec4<i32>, ${ROWS}>();
    let end = min((g + 1u) * p.group_words, p.words);
    for (var k = g * p.group_words; k < end; k++) {
      let w = vec4<u32>(weight[first.x + k], weight[first.y + k], weight[first.z + k], weight[first.w + k]);
      for (var r = 0u; r < ${ROWS}u; r++) {
        let x = packed[min(row_0 + r, p.rows - 1u) * p.words + k];
        // A nibble stands for its value + 8.
        let over = 8 * (dot4I8Packed(x.x, 0x01010101u) + dot4I8Packed(x.y, 0x01010101u));
        parts[r] += vec4<i32>(product(x, w.x), product(x, w.y), product(x, w.z), product(x, w.w)) - vec4<i32>(over);
      }
    }
    let s = vec4<u32>(g * p.scale_stride) + at;
    let factor = vec4<f32>(scales_load(s.x), scales_load(s.y), scales_load(s.z), scales_load(s.w));
    let t = vec4<u32>(g * p.sum_stride) + at;
    let sum = vec4<i32>(sums[t.x], sums[t.y], sums[t.z], sums[t.w]);
    for (var r = 0u; r < ${ROWS}u; r++) { totals[r] += factor * vec4<f32>(parts[r] - zero[r] * sum); }
  }
  for (var r = 0u; r < ${ROWS}u; r++) {
    var v = totals[r];
#if LANES != 1
    workgroupBarrier();
    shared_sums[local] = v;
    workgroupBarrier();
    for (var other = 1u; other < LANES; other++) { v += shared_sums[(local / LANES) * LANES + (lane + other) % LANES]; }
#endif
    let row = row_0 + r;
    if (lane == 0u && row < p.rows && n < p.outputs) {
      v *= x_scales_load(row);
#if BIAS
      v += vec4<f32>(bias_load(at.x), bias_load(at.y), bias_load(at.z), bias_load(at.w));
#endif
#if WIDE
      out_put((row * p.outputs + n) / 4u, v);
#else
      for (var k = 0u; k < 4u; k++) {
        if (n + k < p.outputs) { out[row * p.outputs + n + k] = v[k]; }
      }
#endif
    }
  }
}
