// Eight independent chains of fused multiply-adds of four floats: 64 operations an invocation and round.
@group(0) @binding(0) var<storage, read> source: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> target_: array<vec4<f32>>;
override rounds: u32;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let a = source[id.x & 255u];
  let b = source[(id.x + 1u) & 255u];
  var x0 = a; var x1 = a + b; var x2 = a - b; var x3 = b;
  var x4 = a * 2.0; var x5 = b * 2.0; var x6 = a * 3.0; var x7 = b * 3.0;
  for (var i = 0u; i < rounds; i++) {
    x0 = fma(x0, a, b); x1 = fma(x1, a, b); x2 = fma(x2, a, b); x3 = fma(x3, a, b);
    x4 = fma(x4, a, b); x5 = fma(x5, a, b); x6 = fma(x6, a, b); x7 = fma(x7, a, b);
  }
  target_[id.x] = ((x0 + x1) + (x2 + x3)) + ((x4 + x5) + (x6 + x7));
}
