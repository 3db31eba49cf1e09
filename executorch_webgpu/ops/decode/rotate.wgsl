// Rotary embedding of a quad of a head. Pairs are neighbours: (2i, 2i + 1) turn by angle i of the row that starts at
// element ``angles`` of the tables.
fn rotate(x: vec4<f32>, quad: u32) -> vec4<f32> {
  let at = p.angles + quad * 2u;
  let c = vec2<f32>(cosine_load(at), cosine_load(at + 1u));
  let s = vec2<f32>(sine_load(at), sine_load(at + 1u));
  return vec4<f32>(x.x * c.x - x.y * s.x, x.x * s.x + x.y * c.x, x.z * c.y - x.w * s.y, x.z * s.y + x.w * c.y);
}
