// Adds the sums of all splits of a product's columns, and the bias: four outputs of a row for each invocation.
#include "common/grid.wgsl"
@group(0) @binding(0) var<storage, read> partial: array<vec4<f32>>;
#include "common/tensor.wgsl" NAME=out BINDING=1 DTYPE=${X} ACCESS=read_write VEC4=1
#if BIAS
#include "common/tensor.wgsl" NAME=bias BINDING=2 DTYPE=${BIAS} ACCESS=read
#endif
struct Params {
  quads: u32,
  row_quads: u32,
  splits: u32,
}
@group(0) @binding(3) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q >= p.quads) { return; }
  var sum = partial[q];
  for (var s = 1u; s < p.splits; s++) { sum += partial[s * p.quads + q]; }
#if BIAS
  sum += bias_quad(q % p.row_quads);
#endif
  out_put(q, sum);
}
