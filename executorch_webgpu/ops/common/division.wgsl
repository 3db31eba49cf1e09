// a / b to the last bit or nearly so: WGSL allows an error of 2.5 units, which would move values across a rounding step.
fn divided(a: f32, b: f32) -> f32 {
  let q = a / b;
  let rest = fma(-q, b, a) / b;
  return select(q, q + rest, abs(rest) < abs(q));
}
