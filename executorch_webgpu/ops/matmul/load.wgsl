// The operands of a product a[m, k] x b[k, n], read four values at a time; zeros outside. Needs Params, p and:
// A, B: their dtypes. A_VEC: k is a multiple of 4, so rows of `a` are read as whole vec4.
// B_LAYOUT: kn (rows of n), nk (rows of k) or image (the patches of an image, for convolution); B_VEC: whole vec4.
#include "matmul/operand.wgsl" NAME=a BINDING=0 DTYPE=${A}
#include "matmul/operand.wgsl" NAME=b BINDING=1 DTYPE=${B}

// a[m, k] to a[m, k + 3]; `row` is the place of a[m, 0] and k < limit <= p.k.
fn load_a(row: u32, m: u32, k: u32, limit: u32) -> vec4<f32> {
  if (m >= p.m || k >= limit) { return vec4<f32>(); }
#if A_VEC
  return a_vec((row + k) >> 2u);
#else
  let i = row + k;
  let last = row + limit - 1u;
  let v = vec4<f32>(a_at(i), a_at(min(i + 1u, last)), a_at(min(i + 2u, last)), a_at(min(i + 3u, last)));
  return select(vec4<f32>(), v, vec4<u32>(k, k + 1u, k + 2u, k + 3u) < vec4<u32>(limit));
#endif
}

#if B_LAYOUT == nk
// b[k, n] to b[k + 3, n]; `row` is the place of b[0, n].
fn load_b_column(row: u32, n: u32, k: u32, limit: u32) -> vec4<f32> {
  if (n >= p.n || k >= limit) { return vec4<f32>(); }
#if B_VEC
  return b_vec((row + k) >> 2u);
#else
  let i = row + k;
  let last = row + limit - 1u;
  let v = vec4<f32>(b_at(i), b_at(min(i + 1u, last)), b_at(min(i + 2u, last)), b_at(min(i + 3u, last)));
  return select(vec4<f32>(), v, vec4<u32>(k, k + 1u, k + 2u, k + 3u) < vec4<u32>(limit));
#endif
}
#elif B_LAYOUT == image
const KERNEL = vec2<u32>(${KERNEL_H}u, ${KERNEL_W}u);

// The top left corners of the patches of columns n to n + 3.
struct Corners { rows: vec4<i32>, columns: vec4<i32> }

fn corners(n: u32) -> Corners {
  let at = min(vec4<u32>(n, n + 1u, n + 2u, n + 3u), vec4<u32>(p.n - 1u));
  let rows = at / p.out_width;
  let columns = at - rows * p.out_width;
  return Corners(vec4<i32>(rows) * p.stride.x - p.padding.x, vec4<i32>(columns) * p.stride.y - p.padding.y);
}

// b[k, n] to b[k, n + 3]: row k is one tap of one channel; `image` is the place of the first channel.
fn load_b_patch(image: u32, c: Corners, k: u32, limit: u32) -> vec4<f32> {
  if (k >= limit) { return vec4<f32>(); }
  let channel = k / (KERNEL.x * KERNEL.y);
  let tap = k - channel * (KERNEL.x * KERNEL.y);
  let tap_row = tap / KERNEL.y;
  let y = c.rows + i32(tap_row) * p.dilation.x;
  let x = c.columns + i32(tap - tap_row * KERNEL.y) * p.dilation.y;
  // A negative coordinate is a huge unsigned one.
  let inside = (vec4<u32>(y) < vec4<u32>(p.size.x)) & (vec4<u32>(x) < vec4<u32>(p.size.y));
  let places = vec4<i32>(i32(image + channel * p.size.x * p.size.y)) + y * i32(p.size.y) + x;
  let i = select(vec4<u32>(), vec4<u32>(places), inside);
  return select(vec4<f32>(), vec4<f32>(b_at(i.x), b_at(i.y), b_at(i.z), b_at(i.w)), inside);
}
#else
// b[k, n] to b[k, n + 3]; `start` is the place of b[0, 0].
fn load_b_row(start: u32, n: u32, k: u32, limit: u32) -> vec4<f32> {
  if (n >= p.n || k >= limit) { return vec4<f32>(); }
  let i = start + k * p.n + n;
#if B_VEC
  return b_vec(i >> 2u);
#else
  let last = start + k * p.n + p.n - 1u;
  return vec4<f32>(b_at(i), b_at(min(i + 1u, last)), b_at(min(i + 2u, last)), b_at(min(i + 3u, last)));
#endif
}
#endif
