// Strides are in elements of [batch, row, head]; the last dim is contiguous. q and out have the same strides.
struct Params {
  count: u32,
  rows: u32,
  heads: u32,
  share: u32,
  dim: u32,
  length: u32,
  start: u32,
  splits: u32,
  most_splits: u32,
  scale: f32,
  q_strides: vec4<u32>,
  k_strides: vec4<u32>,
  mask_strides: vec4<u32>,
}
