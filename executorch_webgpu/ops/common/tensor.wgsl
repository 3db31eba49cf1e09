// A tensor NAME of dtype DTYPE at BINDING with ACCESS (read or read_write).
// NAME_load(i) gives element i as f32 or i32; NAME_quad(q) elements 4q to 4q+3; NAME_put(q, v) writes those four,
// which are always whole words: no two invocations share one. int64 keeps the low word and its sign. Local names are long, since NAME hides them.
// With VEC4 set, float32 is bound as vec4<f32>, for kernels that read quads.
#if DTYPE == float32 && VEC4
alias ${NAME}_t = f32;
@group(0) @binding(${BINDING}) var<storage, ${ACCESS}> ${NAME}: array<vec4<f32>>;
fn ${NAME}_load(load_at: u32) -> f32 { return ${NAME}[load_at >> 2u][load_at & 3u]; }
fn ${NAME}_quad(quad_at: u32) -> vec4<f32> { return ${NAME}[quad_at]; }
#if ACCESS == read_write
fn ${NAME}_put(quad_at: u32, put_value: vec4<f32>) { ${NAME}[quad_at] = put_value; }
#endif
#elif DTYPE == float32
alias ${NAME}_t = f32;
@group(0) @binding(${BINDING}) var<storage, ${ACCESS}> ${NAME}: array<f32>;
fn ${NAME}_load(load_at: u32) -> f32 { return ${NAME}[load_at]; }
fn ${NAME}_quad(quad_at: u32) -> vec4<f32> {
  let load_at = quad_at * 4u;
  return vec4<f32>(${NAME}[load_at], ${NAME}[load_at + 1u], ${NAME}[load_at + 2u], ${NAME}[load_at + 3u]);
}
#if ACCESS == read_write
fn ${NAME}_put(quad_at: u32, put_value: vec4<f32>) {
  let load_at = quad_at * 4u;
  ${NAME}[load_at] = put_value.x; ${NAME}[load_at + 1u] = put_value.y; ${NAME}[load_at + 2u] = put_value.z;
  ${NAME}[load_at + 3u] = put_value.w;
}
#endif
#elif DTYPE == float16
alias ${NAME}_t = f32;
@group(0) @binding(${BINDING}) var<storage, ${ACCESS}> ${NAME}: array<u32>;
fn ${NAME}_load(load_at: u32) -> f32 { return unpack2x16float(${NAME}[load_at >> 1u])[load_at & 1u]; }
fn ${NAME}_quad(quad_at: u32) -> vec4<f32> {
  return vec4<f32>(unpack2x16float(${NAME}[quad_at * 2u]), unpack2x16float(${NAME}[quad_at * 2u + 1u]));
}
#if ACCESS == read_write
// Values past the largest half become infinities and NaN stays NaN; pack2x16float leaves both open.
fn ${NAME}_half(half_value: f32) -> u32 {
  let bits = bitcast<u32>(half_value);
  let sign = (bits >> 16u) & 0x8000u;
  let size = bits & 0x7fffffffu;
  if (size > 0x7f800000u) { return sign | 0x7e00u; }
  if (size >= 0x477ff000u) { return sign | 0x7c00u; }
  return pack2x16float(vec2<f32>(half_value, 0.0)) & 0xffffu;
}
fn ${NAME}_put(quad_at: u32, put_value: vec4<f32>) {
  ${NAME}[quad_at * 2u] = ${NAME}_half(put_value.x) | (${NAME}_half(put_value.y) << 16u);
  ${NAME}[quad_at * 2u + 1u] = ${NAME}_half(put_value.z) | (${NAME}_half(put_value.w) << 16u);
}
#endif
#elif DTYPE == int32
alias ${NAME}_t = i32;
@group(0) @binding(${BINDING}) var<storage, ${ACCESS}> ${NAME}: array<i32>;
fn ${NAME}_load(load_at: u32) -> i32 { return ${NAME}[load_at]; }
fn ${NAME}_quad(quad_at: u32) -> vec4<i32> {
  let load_at = quad_at * 4u;
  return vec4<i32>(${NAME}[load_at], ${NAME}[load_at + 1u], ${NAME}[load_at + 2u], ${NAME}[load_at + 3u]);
}
#if ACCESS == read_write
fn ${NAME}_put(quad_at: u32, put_value: vec4<i32>) {
  let load_at = quad_at * 4u;
  ${NAME}[load_at] = put_value.x; ${NAME}[load_at + 1u] = put_value.y; ${NAME}[load_at + 2u] = put_value.z;
  ${NAME}[load_at + 3u] = put_value.w;
}
#endif
#elif DTYPE == int64
alias ${NAME}_t = i32;
@group(0) @binding(${BINDING}) var<storage, ${ACCESS}> ${NAME}: array<vec2<i32>>;
fn ${NAME}_load(load_at: u32) -> i32 { return ${NAME}[load_at].x; }
fn ${NAME}_quad(quad_at: u32) -> vec4<i32> {
  let load_at = quad_at * 4u;
  return vec4<i32>(${NAME}[load_at].x, ${NAME}[load_at + 1u].x, ${NAME}[load_at + 2u].x, ${NAME}[load_at + 3u].x);
}
#if ACCESS == read_write
fn ${NAME}_put(quad_at: u32, put_value: vec4<i32>) {
  let load_at = quad_at * 4u;
  for (var quad_item = 0u; quad_item < 4u;
  quad_item++) { ${NAME}[load_at + quad_item] = vec2<i32>(put_value[quad_item], put_value[quad_item] >> 31u); }
}
#endif
#else
// uint8, int8 and bool: four to a word.
alias ${NAME}_t = i32;
@group(0) @binding(${BINDING}) var<storage, ${ACCESS}> ${NAME}: array<u32>;
#if DTYPE == int8
fn ${NAME}_load(load_at: u32) -> i32 { return extractBits(bitcast<i32>(${NAME}[load_at >> 2u]),
                   (load_at & 3u) * 8u, 8u); }
fn ${NAME}_quad(quad_at: u32) -> vec4<i32> {
  let packed_word = bitcast<i32>(${NAME}[quad_at]);
  return vec4<i32>(extractBits(packed_word, 0u, 8u), extractBits(packed_word, 8u, 8u),
                   extractBits(packed_word, 16u, 8u), extractBits(packed_word, 24u, 8u));
}
#else
fn ${NAME}_load(load_at: u32) -> i32 { return bitcast<i32>(extractBits(${NAME}[load_at >> 2u],
                   (load_at & 3u) * 8u, 8u)); }
fn ${NAME}_quad(quad_at: u32) -> vec4<i32> {
  let packed_word = ${NAME}[quad_at];
  return bitcast<vec4<i32>>((vec4<u32>(packed_word) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(0xffu));
}
#endif
#if ACCESS == read_write
fn ${NAME}_put(quad_at: u32, put_value: vec4<i32>) {
#if DTYPE == bool
  let packed_bytes = select(vec4<u32>(0u), vec4<u32>(1u), put_value != vec4<i32>(0));
#else
  let packed_bytes = bitcast<vec4<u32>>(put_value) & vec4<u32>(0xffu);
#endif
  ${NAME}[quad_at] = packed_bytes.x | (packed_bytes.y << 8u) | (packed_bytes.z << 16u) | (packed_bytes.w << 24u);
}
#endif
#endif
