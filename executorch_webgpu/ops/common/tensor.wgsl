// A tensor NAME of dtype DTYPE at BINDING with ACCESS (read or read_write).
// NAME_load(i) gives element i as f32 or i32; NAME_quad(q) elements 4q to 4q+3; NAME_put(q, v) writes those four,
// which are always whole words: no two invocations share one. int64 keeps the low word and its sign.
// With VEC4 set, float32 is bound as vec4<f32>, for kernels that read quads.
#if DTYPE == float32 && VEC4
alias ${NAME}_t = f32;
@group(0) @binding(${BINDING}) var<storage, ${ACCESS}> ${NAME}: array<vec4<f32>>;
fn ${NAME}_load(i: u32) -> f32 { return ${NAME}[i >> 2u][i & 3u]; }
fn ${NAME}_quad(q: u32) -> vec4<f32> { return ${NAME}[q]; }
#if ACCESS == read_write
fn ${NAME}_put(q: u32, v: vec4<f32>) { ${NAME}[q] = v; }
#endif
#elif DTYPE == float32
alias ${NAME}_t = f32;
@group(0) @binding(${BINDING}) var<storage, ${ACCESS}> ${NAME}: array<f32>;
fn ${NAME}_load(i: u32) -> f32 { return ${NAME}[i]; }
fn ${NAME}_quad(q: u32) -> vec4<f32> {
  let i = q * 4u;
  return vec4<f32>(${NAME}[i], ${NAME}[i + 1u], ${NAME}[i + 2u], ${NAME}[i + 3u]);
}
#if ACCESS == read_write
fn ${NAME}_put(q: u32, v: vec4<f32>) {
  let i = q * 4u;
  ${NAME}[i] = v.x; ${NAME}[i + 1u] = v.y; ${NAME}[i + 2u] = v.z; ${NAME}[i + 3u] = v.w;
}
#endif
#elif DTYPE == float16
alias ${NAME}_t = f32;
@group(0) @binding(${BINDING}) var<storage, ${ACCESS}> ${NAME}: array<u32>;
fn ${NAME}_load(i: u32) -> f32 { return unpack2x16float(${NAME}[i >> 1u])[i & 1u]; }
fn ${NAME}_quad(q: u32) -> vec4<f32> {
  return vec4<f32>(unpack2x16float(${NAME}[q * 2u]), unpack2x16float(${NAME}[q * 2u + 1u]));
}
#if ACCESS == read_write
// Values past the largest half become infinities and NaN stays NaN; pack2x16float leaves both open.
fn ${NAME}_half(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  let sign = (bits >> 16u) & 0x8000u;
  let size = bits & 0x7fffffffu;
  if (size > 0x7f800000u) { return sign | 0x7e00u; }
  if (size >= 0x477ff000u) { return sign | 0x7c00u; }
  return pack2x16float(vec2<f32>(x, 0.0)) & 0xffffu;
}
fn ${NAME}_put(q: u32, v: vec4<f32>) {
  ${NAME}[q * 2u] = ${NAME}_half(v.x) | (${NAME}_half(v.y) << 16u);
  ${NAME}[q * 2u + 1u] = ${NAME}_half(v.z) | (${NAME}_half(v.w) << 16u);
}
#endif
#elif DTYPE == int32
alias ${NAME}_t = i32;
@group(0) @binding(${BINDING}) var<storage, ${ACCESS}> ${NAME}: array<i32>;
fn ${NAME}_load(i: u32) -> i32 { return ${NAME}[i]; }
fn ${NAME}_quad(q: u32) -> vec4<i32> {
  let i = q * 4u;
  return vec4<i32>(${NAME}[i], ${NAME}[i + 1u], ${NAME}[i + 2u], ${NAME}[i + 3u]);
}
#if ACCESS == read_write
fn ${NAME}_put(q: u32, v: vec4<i32>) {
  let i = q * 4u;
  ${NAME}[i] = v.x; ${NAME}[i + 1u] = v.y; ${NAME}[i + 2u] = v.z; ${NAME}[i + 3u] = v.w;
}
#endif
#elif DTYPE == int64
alias ${NAME}_t = i32;
@group(0) @binding(${BINDING}) var<storage, ${ACCESS}> ${NAME}: array<vec2<i32>>;
fn ${NAME}_load(i: u32) -> i32 { return ${NAME}[i].x; }
fn ${NAME}_quad(q: u32) -> vec4<i32> {
  let i = q * 4u;
  return vec4<i32>(${NAME}[i].x, ${NAME}[i + 1u].x, ${NAME}[i + 2u].x, ${NAME}[i + 3u].x);
}
#if ACCESS == read_write
fn ${NAME}_put(q: u32, v: vec4<i32>) {
  let i = q * 4u;
  for (var k = 0u; k < 4u; k++) { ${NAME}[i + k] = vec2<i32>(v[k], v[k] >> 31u); }
}
#endif
#else
// uint8, int8 and bool: four to a word.
alias ${NAME}_t = i32;
@group(0) @binding(${BINDING}) var<storage, ${ACCESS}> ${NAME}: array<u32>;
#if DTYPE == int8
fn ${NAME}_load(i: u32) -> i32 { return extractBits(bitcast<i32>(${NAME}[i >> 2u]), (i & 3u) * 8u, 8u); }
fn ${NAME}_quad(q: u32) -> vec4<i32> {
  let w = bitcast<i32>(${NAME}[q]);
  return vec4<i32>(extractBits(w, 0u, 8u), extractBits(w, 8u, 8u), extractBits(w, 16u, 8u), extractBits(w, 24u, 8u));
}
#else
fn ${NAME}_load(i: u32) -> i32 { return bitcast<i32>(extractBits(${NAME}[i >> 2u], (i & 3u) * 8u, 8u)); }
fn ${NAME}_quad(q: u32) -> vec4<i32> {
  let w = ${NAME}[q];
  return bitcast<vec4<i32>>((vec4<u32>(w) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(0xffu));
}
#endif
#if ACCESS == read_write
fn ${NAME}_put(q: u32, v: vec4<i32>) {
#if DTYPE == bool
  let b = select(vec4<u32>(0u), vec4<u32>(1u), v != vec4<i32>(0));
#else
  let b = bitcast<vec4<u32>>(v) & vec4<u32>(0xffu);
#endif
  ${NAME}[q] = b.x | (b.y << 8u) | (b.z << 16u) | (b.w << 24u);
}
#endif
#endif
