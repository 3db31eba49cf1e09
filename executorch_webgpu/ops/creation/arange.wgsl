// out[i] = start + i * step; floats carry what float32 loses of start and step.
#include "common/grid.wgsl"
#include "common/tensor.wgsl" NAME=out BINDING=0 DTYPE=${OUT} ACCESS=read_write
struct Params {
  quads: u32,
  start: ${VALUE},
  step: ${VALUE},
#if VALUE == f32
  start_rest: f32,
  step_rest: f32,
#endif
}
@group(0) @binding(1) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q >= p.quads) { return; }
  var result: vec4<out_t>;
  for (var k = 0u; k < 4u; k++) {
    let i = ${VALUE}(q * 4u + k);
#if VALUE == f32
    result[k] = (p.start + i * p.step) + (p.start_rest + i * p.step_rest);
#else
    result[k] = p.start + i * p.step;
#endif
  }
  out_put(q, result);
}
