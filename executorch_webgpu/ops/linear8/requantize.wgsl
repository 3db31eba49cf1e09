// clamp(round(v / scale) + zero, -128, 127), halves to even; inverse is 1 / scale. NaN becomes 0.
fn requantize(v: vec4<f32>, inverse: f32, zero: f32) -> vec4<i32> {
  let q = clamp(round(v * inverse) + vec4<f32>(zero), vec4<f32>(-128.0), vec4<f32>(127.0));
  let wrong = (bitcast<vec4<u32>>(v) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u);
  return vec4<i32>(select(q, vec4<f32>(0.0), wrong));
}
