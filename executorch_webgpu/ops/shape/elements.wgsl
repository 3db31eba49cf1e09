// A tensor NAME as bare elements of BYTES bytes at BINDING, for operators that only move them: bit for bit, whatever
// the dtype. NAME_load(i) gives element i; NAME_put(q, a, b, c, d) writes elements 4q to 4q+3, always whole words.
#if BYTES == 8
alias ${NAME}_t = vec2<u32>;
@group(0) @binding(${BINDING}) var<storage, ${ACCESS}> ${NAME}: array<vec2<u32>>;
fn ${NAME}_load(i: u32) -> vec2<u32> { return ${NAME}[i]; }
#if ACCESS == read_write
fn ${NAME}_put(q: u32, a: vec2<u32>, b: vec2<u32>, c: vec2<u32>, d: vec2<u32>) {
  let i = q * 4u;
  ${NAME}[i] = a; ${NAME}[i + 1u] = b; ${NAME}[i + 2u] = c; ${NAME}[i + 3u] = d;
}
#endif
#else
alias ${NAME}_t = u32;
@group(0) @binding(${BINDING}) var<storage, ${ACCESS}> ${NAME}: array<u32>;
#if BYTES == 4
fn ${NAME}_load(i: u32) -> u32 { return ${NAME}[i]; }
#elif BYTES == 2
fn ${NAME}_load(i: u32) -> u32 { return extractBits(${NAME}[i >> 1u], (i & 1u) * 16u, 16u); }
#else
fn ${NAME}_load(i: u32) -> u32 { return extractBits(${NAME}[i >> 2u], (i & 3u) * 8u, 8u); }
#endif
#if ACCESS == read_write
fn ${NAME}_put(q: u32, a: u32, b: u32, c: u32, d: u32) {
#if BYTES == 4
  let i = q * 4u;
  ${NAME}[i] = a; ${NAME}[i + 1u] = b; ${NAME}[i + 2u] = c; ${NAME}[i + 3u] = d;
#elif BYTES == 2
  ${NAME}[q * 2u] = a | (b << 16u);
  ${NAME}[q * 2u + 1u] = c | (d << 16u);
#else
  ${NAME}[q] = a | (b << 8u) | (c << 16u) | (d << 24u);
#endif
}
#endif
#endif
