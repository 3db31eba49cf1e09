// Quantizes rows of x to int8, four to a word, by one scale and zero point a row. The words of eight columns hold the
// even columns, then the odd ones, so that they meet the low and the high nibbles of a packed weight.
#include "common/grid.wgsl"
#include "common/tensor.wgsl" NAME=x BINDING=0 DTYPE=${X} ACCESS=read VEC4=1
#include "common/tensor.wgsl" NAME=scales BINDING=1 DTYPE=${S} ACCESS=read
#include "common/tensor.wgsl" NAME=zeros BINDING=2 DTYPE=${Z} ACCESS=read
@group(0) @binding(3) var<storage, read_write> packed: array<vec2<u32>>;
struct Params {
  words: u32,
  columns: u32,
}
@group(0) @binding(4) var<uniform> p: Params;

fn quantize(v: vec4<f32>, inverse: f32, zero: f32) -> vec4<u32> {
  let q = clamp(round(v * inverse) + vec4<f32>(zero), vec4<f32>(-128.0), vec4<f32>(127.0));
  return bitcast<vec4<u32>>(vec4<i32>(q)) & vec4<u32>(0xffu);
}

fn four(a: u32, b: u32, c: u32, d: u32) -> u32 { return a | (b << 8u) | (c << 16u) | (d << 24u); }

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let i = flat_id(workgroup, groups, local, 64u);
  if (i >= p.words) { return; }
  let row = i / (p.columns / 8u);
  let inverse = 1.0 / scales_load(row);
  let zero = f32(zeros_load(row));
  let a = quantize(x_quad(i * 2u), inverse, zero);
  let b = quantize(x_quad(i * 2u + 1u), inverse, zero);
  packed[i] = vec2<u32>(four(a.x, a.z, b.x, b.z), four(a.y, a.w, b.y, b.w));
}
