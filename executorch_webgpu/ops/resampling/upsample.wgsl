// Upsampling of [planes, height, width] to another height and width; MODE is nearest or bilinear. `scale` is input
// pixels per output pixel.
#include "common/grid.wgsl"
#include "common/tensor.wgsl" NAME=x BINDING=0 DTYPE=${X} ACCESS=read
#include "common/tensor.wgsl" NAME=out BINDING=1 DTYPE=${X} ACCESS=read_write
struct Params {
  quads: u32,
  count: u32,
  align_corners: u32,
  size: vec2<i32>,
  out_size: vec2<i32>,
  scale: vec2<f32>,
}
@group(0) @binding(2) var<uniform> p: Params;

fn pixel(flat: u32) -> f32 {
  let i = i32(min(flat, p.count - 1u));
  let rest = i / p.out_size.y;
  let at = vec2<f32>(vec2<i32>(rest % p.out_size.x, i % p.out_size.y));
  let plane = rest / p.out_size.x * p.size.x * p.size.y;
#if MODE == nearest
  let source = min(vec2<i32>(floor(at * p.scale)), p.size - 1);
  return x_load(u32(plane + source.x * p.size.y + source.y));
#else
  var position = at * p.scale;
  if (p.align_corners == 0u) { position = max((at + 0.5) * p.scale - 0.5, vec2<f32>(0.0)); }
  let a = min(vec2<i32>(position), p.size - 1);
  let b = min(a + 1, p.size - 1);
  let t = position - vec2<f32>(a);
  let top = plane + a.x * p.size.y;
  let bottom = plane + b.x * p.size.y;
  let upper = x_load(u32(top + a.y)) * (1.0 - t.y) + x_load(u32(top + b.y)) * t.y;
  let lower = x_load(u32(bottom + a.y)) * (1.0 - t.y) + x_load(u32(bottom + b.y)) * t.y;
  return upper * (1.0 - t.x) + lower * t.x;
#endif
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q >= p.quads) { return; }
  let i = q * 4u;
  out_put(q, vec4<f32>(pixel(i), pixel(i + 1u), pixel(i + 2u), pixel(i + 3u)));
}
