// Average pooling in two dimensions over [planes, height, width]. The divisor is `divisor`, or where that is 0 the
// number of taps: those in the padding included if `include_padding`.
#include "common/grid.wgsl"
#include "common/tensor.wgsl" NAME=x BINDING=0 DTYPE=${X} ACCESS=read
#include "common/tensor.wgsl" NAME=out BINDING=1 DTYPE=${X} ACCESS=read_write
struct Params {
  quads: u32,
  count: u32,
  include_padding: u32,
  divisor: i32,
  size: vec2<i32>,
  out_size: vec2<i32>,
  kernel: vec2<i32>,
  stride: vec2<i32>,
  padding: vec2<i32>,
}
@group(0) @binding(2) var<uniform> p: Params;

fn pool(flat: u32) -> f32 {
  let i = i32(min(flat, p.count - 1u));
  let column = i % p.out_size.y;
  let rest = i / p.out_size.y;
  let row = rest % p.out_size.x;
  let plane = rest / p.out_size.x * p.size.x * p.size.y;
  let start = vec2<i32>(row, column) * p.stride - p.padding;
  let end = min(start + p.kernel, p.size + p.padding);
  let first = max(start, vec2<i32>(0));
  let last = min(end, p.size);
  if (first.x >= last.x || first.y >= last.y) { return 0.0; }
  var sum = 0.0;
  for (var h = first.x; h < last.x; h++) {
    for (var w = first.y; w < last.y; w++) {
      sum += x_load(u32(plane + h * p.size.y + w));
    }
  }
  var taps = last - first;
  if (p.include_padding != 0u) { taps = end - start; }
  return sum / f32(select(p.divisor, taps.x * taps.y, p.divisor == 0));
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q >= p.quads) { return; }
  let i = q * 4u;
  out_put(q, vec4<f32>(pool(i), pool(i + 1u), pool(i + 2u), pool(i + 3u)));
}
