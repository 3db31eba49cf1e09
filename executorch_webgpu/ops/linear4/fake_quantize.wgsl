// x quantized to int8 by one scale and zero point a row, and back.
#include "common/grid.wgsl"
#include "common/tensor.wgsl" NAME=x BINDING=0 DTYPE=${X} ACCESS=read
#include "common/tensor.wgsl" NAME=scales BINDING=1 DTYPE=${S} ACCESS=read
#include "common/tensor.wgsl" NAME=zeros BINDING=2 DTYPE=${Z} ACCESS=read
#include "common/tensor.wgsl" NAME=out BINDING=3 DTYPE=${X} ACCESS=read_write
struct Params {
  count: u32,
  columns: u32,
}
@group(0) @binding(4) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q * 4u >= p.count) { return; }
  var result: vec4<f32>;
  for (var k = 0u; k < 4u; k++) {
    let i = min(q * 4u + k, p.count - 1u);
    let scale = scales_load(i / p.columns);
    let zero = f32(zeros_load(i / p.columns));
    result[k] = (clamp(round(x_load(i) * (1.0 / scale)) + zero, -128.0, 127.0) - zero) * scale;
  }
  out_put(q, result);
}
