// out = x W^T + bias for any number of columns and any group: one invocation makes four consecutive outputs.
#include "common/grid.wgsl"
#include "common/tensor.wgsl" NAME=x BINDING=0 DTYPE=${X} ACCESS=read
#include "common/tensor.wgsl" NAME=weight BINDING=1 DTYPE=uint8 ACCESS=read
#include "common/tensor.wgsl" NAME=scales BINDING=2 DTYPE=${S} ACCESS=read
#include "common/tensor.wgsl" NAME=out BINDING=3 DTYPE=${X} ACCESS=read_write
#if BIAS
#include "common/tensor.wgsl" NAME=bias BINDING=4 DTYPE=${BIAS} ACCESS=read
#endif
struct Params {
  count: u32,
  outputs: u32,
  columns: u32,
  row_bytes: u32,
  group: u32,
  scale_stride: u32,
}
@group(0) @binding(5) var<uniform> p: Params;

fn weight_value(n: u32, k: u32) -> f32 {
  let byte = u32(weight_load(n * p.row_bytes + k / 2u));
#if HIGH_FIRST
  let shift = 4u - (k & 1u) * 4u;
#else
  let shift = (k & 1u) * 4u;
#endif
  return f32((byte >> shift) & 15u) - 8.0;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q * 4u >= p.count) { return; }
  var result: vec4<f32>;
  for (var j = 0u; j < 4u; j++) {
    let i = min(q * 4u + j, p.count - 1u);
    let row = i / p.outputs;
    let n = i % p.outputs;
    var sum = 0.0;
    for (var k0 = 0u; k0 < p.columns; k0 += p.group) {
      var part = 0.0;
      for (var k = k0; k < min(k0 + p.group, p.columns); k++) {
        part += x_load(row * p.columns + k) * weight_value(n, k);
      }
      sum += part * scales_load((k0 / p.group) * p.scale_stride + n);
    }
#if BIAS
    sum += bias_load(n);
#endif
    result[j] = sum;
  }
  out_put(q, result);
}
