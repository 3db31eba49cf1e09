// out = x where c, else y; all three broadcast.
#include "common/grid.wgsl"
#include "common/broadcast.wgsl"
#include "common/tensor.wgsl" NAME=c BINDING=0 DTYPE=${C} ACCESS=read
#include "common/tensor.wgsl" NAME=x BINDING=1 DTYPE=${X} ACCESS=read
#include "common/tensor.wgsl" NAME=y BINDING=2 DTYPE=${Y} ACCESS=read
#include "common/tensor.wgsl" NAME=out BINDING=3 DTYPE=${OUT} ACCESS=read_write
struct Params {
  quads: u32,
  count: u32,
  rank: u32,
  whole_quads: u32,
  c_mode: u32,
  x_mode: u32,
  y_mode: u32,
  out_dims: array<vec4<u32>, 2>,
  c_strides: array<vec4<u32>, 2>,
  x_strides: array<vec4<u32>, 2>,
  y_strides: array<vec4<u32>, 2>,
}
@group(0) @binding(4) var<uniform> p: Params;

alias value_t = out_t;

#include "elementwise/operand.wgsl" NAME=c
#include "elementwise/operand.wgsl" NAME=x
#include "elementwise/operand.wgsl" NAME=y

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q >= p.quads) { return; }
  out_put(q, select(y_read(q), x_read(q), c_read(q) != vec4<value_t>()));
}
