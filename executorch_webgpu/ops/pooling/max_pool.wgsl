// Max pooling in two dimensions over [planes, height, width]; with INDEX also where the maximum is, as a flat place in
// its plane. NaN wins, as in PyTorch. Padding counts as minus infinity and is never chosen.
#include "common/grid.wgsl"
#include "common/special.wgsl"
#include "common/tensor.wgsl" NAME=x BINDING=0 DTYPE=${X} ACCESS=read
#include "common/tensor.wgsl" NAME=out BINDING=1 DTYPE=${X} ACCESS=read_write
#if INDEX
#include "common/tensor.wgsl" NAME=index BINDING=2 DTYPE=${INDEX} ACCESS=read_write
#endif
struct Params {
  quads: u32,
  count: u32,
  size: vec2<i32>,
  out_size: vec2<i32>,
  kernel: vec2<i32>,
  stride: vec2<i32>,
  padding: vec2<i32>,
  dilation: vec2<i32>,
}
@group(0) @binding(3) var<uniform> p: Params;

struct Found { value: f32, place: i32 }

fn pool(flat: u32) -> Found {
  let i = i32(min(flat, p.count - 1u));
  let column = i % p.out_size.y;
  let rest = i / p.out_size.y;
  let row = rest % p.out_size.x;
  let plane = rest / p.out_size.x * p.size.x * p.size.y;
  let start = vec2<i32>(row, column) * p.stride - p.padding;
  // The first tap inside: the place where nothing is above minus infinity.
  let skip = (max(-start, vec2<i32>(0)) + p.dilation - 1) / p.dilation;
  let first = start + skip * p.dilation;
  var found = Found(-infinity(), first.x * p.size.y + first.y);
  let end = min(start + p.kernel * p.dilation, p.size);
  for (var h = first.x; h < end.x; h += p.dilation.x) {
    for (var w = first.y; w < end.y; w += p.dilation.y) {
      let place = h * p.size.y + w;
      let value = x_load(u32(plane + place));
      if (value > found.value || is_nan(value)) { found = Found(value, place); }
    }
  }
  return found;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q >= p.quads) { return; }
  let i = q * 4u;
  let a = pool(i);
  let b = pool(i + 1u);
  let c = pool(i + 2u);
  let d = pool(i + 3u);
  out_put(q, vec4<f32>(a.value, b.value, c.value, d.value));
#if INDEX
  index_put(q, vec4<i32>(a.place, b.place, c.place, d.place));
#endif
}
