// out = x W^T + bias without workgroup memory: each invocation makes ROWS rows of four outputs and dequantizes a word
// of each of the four weight rows once for all of them. For devices whose workgroup memory is ordinary memory.
#include "common/tensor.wgsl" NAME=x BINDING=0 DTYPE=${X} ACCESS=read VEC4=1
@group(0) @binding(1) var<storage, read> weight: array<u32>;
#include "common/tensor.wgsl" NAME=scales BINDING=2 DTYPE=${S} ACCESS=read
#include "common/tensor.wgsl" NAME=out BINDING=3 DTYPE=${X} ACCESS=read_write VEC4=1
#if BIAS
#include "common/tensor.wgsl" NAME=bias BINDING=4 DTYPE=${BIAS} ACCESS=read
#endif
struct Params {
  rows: u32,
  outputs: u32,
  columns: u32,
  group: u32,
  scale_stride: u32,
}
@group(0) @binding(5) var<uniform> p: Params;

const ROWS: u32 = 8u;

fn low_half(word: u32) -> vec4<f32> {
#if HIGH_FIRST
  return vec4<f32>((vec4<u32>(word) >> vec4<u32>(4u, 0u, 12u, 8u)) & vec4<u32>(15u)) - vec4<f32>(8.0);
#else
  return vec4<f32>((vec4<u32>(word) >> vec4<u32>(0u, 4u, 8u, 12u)) & vec4<u32>(15u)) - vec4<f32>(8.0);
#endif
}

@compute @workgroup_size(16, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let n = id.x * 4u;
  let m = id.y * ROWS;
  if (n >= p.outputs) { return; }
  let words = p.columns / 8u;
  let row_words = n * words;
  let group_words = p.group / 8u;
  var sum: array<vec4<f32>, ROWS>;
  var first: array<u32, ROWS>;
  for (var r = 0u; r < ROWS; r++) { first[r] = min(m + r, p.rows - 1u) * (p.columns / 4u); }
  for (var begin = 0u; begin < words; begin += group_words) {
    // Without an initial value naga would carry the last turn's sums over.
    var part = array<vec4<f32>, ROWS>();
    for (var k = begin; k < min(begin + group_words, words); k++) {
      let w0 = weight[row_words + k];
      let w1 = weight[row_words + words + k];
      let w2 = weight[row_words + 2u * words + k];
      let w3 = weight[row_words + 3u * words + k];
      let a = transpose(mat4x4<f32>(low_half(w0), low_half(w1), low_half(w2), low_half(w3)));
      let b = transpose(mat4x4<f32>(low_half(w0 >> 16u), low_half(w1 >> 16u), low_half(w2 >> 16u), low_half(w3 >> 16u)));
      for (var r = 0u; r < ROWS; r++) {
        part[r] += a * x_quad(first[r] + 2u * k) + b * x_quad(first[r] + 2u * k + 1u);
      }
    }
    let at = begin / group_words * p.scale_stride + n;
    let scale = vec4<f32>(scales_load(at), scales_load(at + 1u), scales_load(at + 2u), scales_load(at + 3u));
    for (var r = 0u; r < ROWS; r++) { sum[r] += scale * part[r]; }
  }
  for (var r = 0u; r < ROWS; r++) {
    if (m + r < p.rows) {
#if BIAS
      out_put(((m + r) * p.outputs + n) / 4u, sum[r] + bias_quad(n / 4u));
#else
      out_put(((m + r) * p.outputs + n) / 4u, sum[r]);
#endif
    }
  }
}
