// Packs clamp(round(latent / scale), -8, 7) + 8 of latent [N, K], low nibble first: one invocation makes four bytes.
#include "common/grid.wgsl"
#include "common/division.wgsl"
#include "common/tensor.wgsl" NAME=latent BINDING=0 DTYPE=${X} ACCESS=read
#include "common/tensor.wgsl" NAME=scales BINDING=1 DTYPE=${S} ACCESS=read
#include "common/tensor.wgsl" NAME=out BINDING=2 DTYPE=uint8 ACCESS=read_write
struct Params {
  count: u32,
  columns: u32,
  row_bytes: u32,
  group: u32,
  scale_stride: u32,
}
@group(0) @binding(3) var<uniform> p: Params;

fn code(n: u32, k: u32) -> i32 {
  if (k >= p.columns) { return 0; }
  let scale = scales_load((k / p.group) * p.scale_stride + n);
  if (scale == 0.0) { return 8; }
  return i32(clamp(round(divided(latent_load(n * p.columns + k), scale)), -8.0, 7.0)) + 8;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q * 4u >= p.count) { return; }
  var bytes: vec4<i32>;
  for (var j = 0u; j < 4u; j++) {
    let i = min(q * 4u + j, p.count - 1u);
    let n = i / p.row_bytes;
    let k = (i % p.row_bytes) * 2u;
    bytes[j] = code(n, k) | (code(n, k + 1u) << 4u);
  }
  out_put(q, bytes);
}
