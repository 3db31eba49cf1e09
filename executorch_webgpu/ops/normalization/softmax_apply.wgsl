// softmax or log_softmax from statistics made before: the maximum and the sum of exponentials of each line of n elements
// that lie `inner` apart.
#include "common/grid.wgsl"
#include "common/special.wgsl"
#include "elementwise/math.wgsl"
#include "common/tensor.wgsl" NAME=x BINDING=0 DTYPE=${X} ACCESS=read
#include "common/tensor.wgsl" NAME=out BINDING=1 DTYPE=${OUT} ACCESS=read_write
#include "common/tensor.wgsl" NAME=top BINDING=2 DTYPE=float32 ACCESS=read
#include "common/tensor.wgsl" NAME=total BINDING=3 DTYPE=float32 ACCESS=read
struct Params {
  count: u32,
  quads: u32,
  n: u32,
  inner: u32,
}
@group(0) @binding(4) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q >= p.quads) { return; }
  let a = x_quad(q);
  var result: vec4<f32>;
  for (var k = 0u; k < 4u; k++) {
    let i = min(q * 4u + k, p.count - 1u);
    let line = i / (p.n * p.inner) * p.inner + i % p.inner;
#if LOG
    result[k] = a[k] - top[line] - exact_log(total[line]);
#else
    result[k] = exact_exp(a[k] - top[line]) / total[line];
#endif
  }
  out_put(q, result);
}
