// The parameters of a product. z counts independent products: operand `a` of product z is its (z % period)-th, `b`
// its z-th. `per_split` is how many k one workgroup sums where several share a tile.
struct Params {
  m: u32,
  n: u32,
  k: u32,
  period: u32,
  a_batch: u32,
  b_batch: u32,
  splits: u32,
  per_split: u32,
#if !PARTIAL
  alpha: f32,
  beta: f32,
  low: f32,
  high: f32,
  bias_strides: vec4<u32>,
#endif
#if B_LAYOUT == image
  out_width: u32,
  size: vec2<u32>,
  stride: vec2<i32>,
  padding: vec2<i32>,
  dilation: vec2<i32>,
#endif
}
@group(0) @binding(5) var<uniform> p: Params;
