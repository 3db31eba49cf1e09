// out = value everywhere.
#include "common/grid.wgsl"
#include "common/tensor.wgsl" NAME=out BINDING=0 DTYPE=${OUT} ACCESS=read_write
struct Params {
  quads: u32,
  value: ${VALUE},
}
@group(0) @binding(1) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q >= p.quads) { return; }
  out_put(q, vec4<out_t>(p.value));
}
