// Rotary embedding of a quad of a head. Pairs are neighbours: (2i, 2i + 1) turn by the angle of row 0 of the tables.
fn rotate(x: vec4<f32>, quad: u32) -> vec4<f32> {
  let c = vec2<f32>(cosine_load(quad * 2u), cosine_load(quad * 2u + 1u));
  let s = vec2<f32>(sine_load(quad * 2u), sine_load(quad * 2u + 1u));
  return vec4<f32>(x.x * c.x - x.y * s.x, x.x * s.x + x.y * c.x, x.z * c.y - x.w * s.y, x.z * s.y + x.w * c.y);
}
