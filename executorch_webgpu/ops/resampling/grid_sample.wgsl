// Bilinear samples of [batch, channels, height, width] where a grid [batch, out height, out width, (x, y)] says:
// -1 and 1 are the centres of the outermost pixels (align_corners), and positions outside are moved to the border.
#include "common/grid.wgsl"
#include "common/tensor.wgsl" NAME=x BINDING=0 DTYPE=${X} ACCESS=read
#include "common/tensor.wgsl" NAME=grid BINDING=1 DTYPE=${GRID} ACCESS=read
#include "common/tensor.wgsl" NAME=out BINDING=2 DTYPE=${X} ACCESS=read_write
struct Params {
  quads: u32,
  count: u32,
  channels: u32,
  out_plane: u32,
  size: vec2<i32>,
}
@group(0) @binding(3) var<uniform> p: Params;

fn pixel(flat: u32) -> f32 {
  let i = min(flat, p.count - 1u);
  let plane = i / p.out_plane;
  let batch = plane / p.channels;
  let g = (batch * p.out_plane + i % p.out_plane) * 2u;
  let edge = vec2<f32>(p.size - 1);
  let given = vec2<f32>(grid_load(g + 1u), grid_load(g));
  let position = clamp((given + 1.0) * 0.5 * edge, vec2<f32>(0.0), edge);
  let a = clamp(vec2<i32>(position), vec2<i32>(0), p.size - 1);
  let b = min(a + 1, p.size - 1);
  let t = position - vec2<f32>(a);
  let base = i32(plane) * p.size.x * p.size.y;
  let top = base + a.x * p.size.y;
  let bottom = base + b.x * p.size.y;
  let upper = x_load(u32(top + a.y)) * (1.0 - t.y) + x_load(u32(top + b.y)) * t.y;
  let lower = x_load(u32(bottom + a.y)) * (1.0 - t.y) + x_load(u32(bottom + b.y)) * t.y;
  return upper * (1.0 - t.x) + lower * t.x;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q >= p.quads) { return; }
  let i = q * 4u;
  out_put(q, vec4<f32>(pixel(i), pixel(i + 1u), pixel(i + 2u), pixel(i + 3u)));
}
