// Copies elements: out[c0, c1, ...] = x[offset + c0 * s0 + c1 * s1 + ...], strides of any sign or 0.
// Dims are right-aligned to rank 16. With PAD, coordinates move by `low` first, and those outside of `size` give `fill`.
// With INNER, the innermost size is a multiple of 4, so that four outputs share their outer coordinates.
#include "common/grid.wgsl"
#include "shape/elements.wgsl" NAME=x BINDING=0 BYTES=${BYTES} ACCESS=read
#include "shape/elements.wgsl" NAME=out BINDING=1 BYTES=${BYTES} ACCESS=read_write
struct Params {
  quads: u32,
  count: u32,
  rank: u32,
  offset: i32,
  dims: array<vec4<u32>, 4>,
  strides: array<vec4<i32>, 4>,
#if PAD
  fill: vec2<u32>,
  low: array<vec4<i32>, 4>,
  size: array<vec4<i32>, 4>,
#endif
}
@group(0) @binding(2) var<uniform> p: Params;

fn element(flat: u32) -> x_t {
  var rest = flat;
  var index = p.offset;
  for (var k = 0u; k < p.rank; k++) {
    let d = 15u - k;
    let size = p.dims[d >> 2u][d & 3u];
#if PAD
    let c = i32(rest % size) - p.low[d >> 2u][d & 3u];
    if (c < 0 || c >= p.size[d >> 2u][d & 3u]) {
#if BYTES == 8
      return p.fill;
#else
      return p.fill.x;
#endif
    }
#else
    let c = i32(rest % size);
#endif
    index += c * p.strides[d >> 2u][d & 3u];
    rest = rest / size;
  }
  return x_load(u32(index));
}

#if INNER
fn base(flat: u32) -> u32 {
  var rest = flat;
  var index = p.offset;
  for (var k = 0u; k < p.rank; k++) {
    let d = 15u - k;
    let size = p.dims[d >> 2u][d & 3u];
    index += i32(rest % size) * p.strides[d >> 2u][d & 3u];
    rest = rest / size;
  }
  return u32(index);
}
#endif

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q >= p.quads) { return; }
  let i = q * 4u;
#if INNER
  let first = base(i);
  let step = bitcast<u32>(p.strides[3].w);
  out_put(q, x_load(first), x_load(first + step), x_load(first + 2u * step), x_load(first + 3u * step));
#else
  let last = p.count - 1u;
  out_put(q, element(i), element(min(i + 1u, last)), element(min(i + 2u, last)), element(min(i + 3u, last)));
#endif
}
