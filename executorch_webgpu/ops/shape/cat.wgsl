// Joins up to 6 inputs along one dim. Seen from there the output is rows of `row` elements, and input k fills the
// elements from starts[k] to starts[k + 1] of each row. What lies outside is kept: other dispatches fill it.
// With ALIGNED, every start and the row are multiples of 4, so that a quad comes from one input.
#include "common/grid.wgsl"
#include "shape/elements.wgsl" NAME=out BINDING=0 BYTES=${BYTES} ACCESS=read_write
#include "shape/elements.wgsl" NAME=x0 BINDING=1 BYTES=${BYTES} ACCESS=read
#if X1
#include "shape/elements.wgsl" NAME=x1 BINDING=2 BYTES=${BYTES} ACCESS=read
#endif
#if X2
#include "shape/elements.wgsl" NAME=x2 BINDING=3 BYTES=${BYTES} ACCESS=read
#endif
#if X3
#include "shape/elements.wgsl" NAME=x3 BINDING=4 BYTES=${BYTES} ACCESS=read
#endif
#if X4
#include "shape/elements.wgsl" NAME=x4 BINDING=5 BYTES=${BYTES} ACCESS=read
#endif
#if X5
#include "shape/elements.wgsl" NAME=x5 BINDING=6 BYTES=${BYTES} ACCESS=read
#endif
struct Params {
  quads: u32,
  count: u32,
  row: u32,
  starts: array<vec4<u32>, 2>,
}
@group(0) @binding(7) var<uniform> p: Params;

fn start(k: u32) -> u32 { return p.starts[k >> 2u][k & 3u]; }

// The element of input k at place `at` of row `outer`.
fn place(outer: u32, at: u32, k: u32) -> u32 { return outer * (start(k + 1u) - start(k)) + at - start(k); }

#if ALIGNED
fn copy_quad(q: u32) {
  let outer = q * 4u / p.row;
  let at = q * 4u - outer * p.row;
  if (at < start(0u) || at >= start(${COUNT}u)) { return; }
  var i: u32;
  if (at < start(1u)) {
    i = place(outer, at, 0u);
    out_put(q, x0_load(i), x0_load(i + 1u), x0_load(i + 2u), x0_load(i + 3u));
    return;
  }
#if X1
  if (at < start(2u)) {
    i = place(outer, at, 1u);
    out_put(q, x1_load(i), x1_load(i + 1u), x1_load(i + 2u), x1_load(i + 3u));
    return;
  }
#endif
#if X2
  if (at < start(3u)) {
    i = place(outer, at, 2u);
    out_put(q, x2_load(i), x2_load(i + 1u), x2_load(i + 2u), x2_load(i + 3u));
    return;
  }
#endif
#if X3
  if (at < start(4u)) {
    i = place(outer, at, 3u);
    out_put(q, x3_load(i), x3_load(i + 1u), x3_load(i + 2u), x3_load(i + 3u));
    return;
  }
#endif
#if X4
  if (at < start(5u)) {
    i = place(outer, at, 4u);
    out_put(q, x4_load(i), x4_load(i + 1u), x4_load(i + 2u), x4_load(i + 3u));
    return;
  }
#endif
#if X5
  if (at < start(6u)) {
    i = place(outer, at, 5u);
    out_put(q, x5_load(i), x5_load(i + 1u), x5_load(i + 2u), x5_load(i + 3u));
    return;
  }
#endif
}
#else
fn element(flat: u32) -> out_t {
  let i = min(flat, p.count - 1u);
  let outer = i / p.row;
  let at = i - outer * p.row;
  if (at >= start(0u) && at < start(1u)) { return x0_load(place(outer, at, 0u)); }
#if X1
  if (at >= start(1u) && at < start(2u)) { return x1_load(place(outer, at, 1u)); }
#endif
#if X2
  if (at >= start(2u) && at < start(3u)) { return x2_load(place(outer, at, 2u)); }
#endif
#if X3
  if (at >= start(3u) && at < start(4u)) { return x3_load(place(outer, at, 3u)); }
#endif
#if X4
  if (at >= start(4u) && at < start(5u)) { return x4_load(place(outer, at, 4u)); }
#endif
#if X5
  if (at >= start(5u) && at < start(6u)) { return x5_load(place(outer, at, 5u)); }
#endif
  return out_load(i);
}

fn copy_quad(q: u32) {
  let i = q * 4u;
  out_put(q, element(i), element(i + 1u), element(i + 2u), element(i + 3u));
}
#endif

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q < p.quads) { copy_quad(q); }
}
