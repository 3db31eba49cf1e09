// Eight 4-bit weights of a word as floats: a nibble placed in the mantissa of 16.0 is exactly 16 + n.
// Column i of the word is nibble i; the caller subtracts 24 times the sum of x (16 for the trick, 8 for the zero point).
fn nibbles_low(w: u32) -> vec4<f32> {
  let bits = vec4<u32>(w << 19u, w << 15u, w << 11u, w << 7u);
  return bitcast<vec4<f32>>((bits & vec4<u32>(0x00780000u)) | vec4<u32>(0x41800000u));
}
fn nibbles_high(w: u32) -> vec4<f32> {
  let bits = vec4<u32>(w << 3u, w >> 1u, w >> 5u, w >> 9u);
  return bitcast<vec4<f32>>((bits & vec4<u32>(0x00780000u)) | vec4<u32>(0x41800000u));
}
