// out [M, K] = gradient [M, N] times the dequantized 4-bit weight [N, K]: one invocation makes four consecutive outputs.
#include "common/grid.wgsl"
#include "common/tensor.wgsl" NAME=gradient BINDING=0 DTYPE=${X} ACCESS=read
#include "common/tensor.wgsl" NAME=weight BINDING=1 DTYPE=uint8 ACCESS=read
#include "common/tensor.wgsl" NAME=scales BINDING=2 DTYPE=${S} ACCESS=read
#include "common/tensor.wgsl" NAME=out BINDING=3 DTYPE=${X} ACCESS=read_write
struct Params {
  count: u32,
  outputs: u32,
  columns: u32,
  row_bytes: u32,
  group: u32,
  scale_stride: u32,
}
@group(0) @binding(4) var<uniform> p: Params;

fn element(i: u32) -> f32 {
  let row = i / p.columns;
  let k = i % p.columns;
  let scale_row = (k / p.group) * p.scale_stride;
  var sum = 0.0;
  for (var n = 0u; n < p.outputs; n++) {
    let byte = u32(weight_load(n * p.row_bytes + k / 2u));
    let value = f32((byte >> ((k & 1u) * 4u)) & 15u) - 8.0;
    sum += gradient_load(row * p.outputs + n) * (value * scales_load(scale_row + n));
  }
  return sum;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q * 4u >= p.count) { return; }
  var v: vec4<f32>;
  for (var k = 0u; k < 4u; k++) { v[k] = element(min(q * 4u + k, p.count - 1u)); }
  out_put(q, v);
}
