// gather: out[c0, ..., cn] = x[c0, ..., index[c0, ..., cn], ..., cn]. Dims are right-aligned to rank 8; strides are
// those of x, that of the gathered dim given as 0.
#include "common/grid.wgsl"
#include "common/broadcast.wgsl"
#include "shape/elements.wgsl" NAME=x BINDING=0 BYTES=${BYTES} ACCESS=read
#include "common/tensor.wgsl" NAME=index BINDING=1 DTYPE=${INDEX} ACCESS=read
#include "shape/elements.wgsl" NAME=out BINDING=2 BYTES=${BYTES} ACCESS=read_write
struct Params {
  quads: u32,
  count: u32,
  rank: u32,
  size: u32,
  stride: u32,
  dims: array<vec4<u32>, 2>,
  strides: array<vec4<u32>, 2>,
}
@group(0) @binding(3) var<uniform> p: Params;

fn element(flat: u32) -> x_t {
  let i = min(flat, p.count - 1u);
  let given = index_load(i);
  let wrapped = select(given, given + i32(p.size), given < 0);
  // Out of range is an error that cannot be raised from here: no memory outside of x is read.
  let at = u32(clamp(wrapped, 0, i32(p.size) - 1));
  return x_load(broadcast_index(i, p.dims, p.strides, p.rank) + at * p.stride);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q >= p.quads) { return; }
  let i = q * 4u;
  out_put(q, element(i), element(i + 1u), element(i + 2u), element(i + 3u));
}
