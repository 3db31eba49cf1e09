// out = x in another dtype, by PyTorch's rules: floats to ints towards zero, ints wrap, anything but 0 is true.
#include "common/grid.wgsl"
#include "common/special.wgsl"
#include "common/tensor.wgsl" NAME=x BINDING=0 DTYPE=${X} ACCESS=read
#include "common/tensor.wgsl" NAME=out BINDING=1 DTYPE=${OUT} ACCESS=read_write
struct Params {
  quads: u32,
}
@group(0) @binding(2) var<uniform> p: Params;

fn convert(a: x_t) -> out_t {
#if FROM == f32 && OUT == bool
  return select(0, 1, a != 0.0 || is_nan(a));
#elif FROM == f32 && TO == i32
  // What x86 answers, and so PyTorch there, for NaN and for what int32 cannot hold.
  if (is_nan(a) || a < -2147483648.0 || a >= 2147483648.0) { return i32(-2147483647 - 1); }
  return i32(a);
#else
  return out_t(a);
#endif
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q >= p.quads) { return; }
  let a = x_quad(q);
  var result: vec4<out_t>;
  for (var k = 0u; k < 4u; k++) { result[k] = convert(a[k]); }
  out_put(q, result);
}
