// A tensor NAME of floats at BINDING that is read by whole vec4 (NAME_vec, 4 elements) or single elements (NAME_at).
#if DTYPE == float16
@group(0) @binding(${BINDING}) var<storage, read> ${NAME}: array<vec2<u32>>;
fn ${NAME}_vec(q: u32) -> vec4<f32> {
  let w = ${NAME}[q];
  return vec4<f32>(unpack2x16float(w.x), unpack2x16float(w.y));
}
fn ${NAME}_at(i: u32) -> f32 { return unpack2x16float(${NAME}[i >> 2u][(i >> 1u) & 1u])[i & 1u]; }
#else
@group(0) @binding(${BINDING}) var<storage, read> ${NAME}: array<vec4<f32>>;
fn ${NAME}_vec(q: u32) -> vec4<f32> { return ${NAME}[q]; }
fn ${NAME}_at(i: u32) -> f32 { return ${NAME}[i >> 2u][i & 3u]; }
#endif
