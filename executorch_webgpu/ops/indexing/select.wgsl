// Slices chosen by a list of indices: out[o, j, i] = x[o, index[j], i], the output being [outer, chosen, inner].
// Negative indices count from the end. With INNER, inner is a multiple of 4.
#include "common/grid.wgsl"
#include "shape/elements.wgsl" NAME=x BINDING=0 BYTES=${BYTES} ACCESS=read
#include "common/tensor.wgsl" NAME=index BINDING=1 DTYPE=${INDEX} ACCESS=read
#include "shape/elements.wgsl" NAME=out BINDING=2 BYTES=${BYTES} ACCESS=read_write
struct Params {
  quads: u32,
  count: u32,
  chosen: u32,
  inner: u32,
  size: u32,
}
@group(0) @binding(3) var<uniform> p: Params;

fn source(flat: u32) -> u32 {
  let i = flat % p.inner;
  let row = flat / p.inner;
  let outer = row / p.chosen;
  let given = index_load(row - outer * p.chosen);
  let wrapped = select(given, given + i32(p.size), given < 0);
  // Out of range is an error that cannot be raised from here: no memory outside of x is read.
  let at = u32(clamp(wrapped, 0, i32(p.size) - 1));
  return (outer * p.size + at) * p.inner + i;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q >= p.quads) { return; }
  let i = q * 4u;
#if INNER
  let first = source(i);
  out_put(q, x_load(first), x_load(first + 1u), x_load(first + 2u), x_load(first + 3u));
#else
  let last = p.count - 1u;
  out_put(q, x_load(source(i)), x_load(source(min(i + 1u, last))), x_load(source(min(i + 2u, last))),
          x_load(source(min(i + 3u, last))));
#endif
}
