// Turns the pairs (2i, 2i + 1) of x [B, N, C] by a table of N * C elements that holds (cos, sin) pairs.
#include "common/grid.wgsl"
#include "common/tensor.wgsl" NAME=x BINDING=0 DTYPE=${X} ACCESS=read
#include "common/tensor.wgsl" NAME=angles BINDING=1 DTYPE=${TABLE} ACCESS=read
#include "common/tensor.wgsl" NAME=out BINDING=2 DTYPE=${X} ACCESS=read_write
struct Params {
  count: u32,
  period: u32,
}
@group(0) @binding(3) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q * 4u >= p.count) { return; }
  var result: vec4<f32>;
  for (var k = 0u; k < 4u; k++) {
    let i = min(q * 4u + k, p.count - 1u);
    let even = (i % p.period) & 0xfffffffeu;
    let s = angles_load(even + 1u);
    result[k] = x_load(i) * angles_load(even) + x_load(i ^ 1u) * select(-s, s, (i & 1u) == 1u);
  }
  out_put(q, result);
}
