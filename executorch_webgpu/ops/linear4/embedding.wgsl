// Rows of a table of 4-bit values, dequantized: one invocation makes four consecutive elements. WIDE: rows are whole
// quads and a group is too, so that four elements need one index, one word and one scale.
#include "common/grid.wgsl"
@group(0) @binding(0) var<storage, read> weight: array<u32>;
#include "common/tensor.wgsl" NAME=scales BINDING=1 DTYPE=${S} ACCESS=read
#include "common/tensor.wgsl" NAME=indices BINDING=2 DTYPE=${I} ACCESS=read
#include "common/tensor.wgsl" NAME=out BINDING=3 DTYPE=${OUT} ACCESS=read_write
#if ZEROS
#include "common/tensor.wgsl" NAME=zeros BINDING=4 DTYPE=${ZEROS} ACCESS=read
#endif
struct Params {
  count: u32,
  dim: u32,
  row_bytes: u32,
  table_rows: u32,
  group: u32,
  groups: u32,
}
@group(0) @binding(5) var<uniform> p: Params;

fn table_row(i: u32) -> u32 { return u32(clamp(indices_load(i / p.dim), 0, i32(p.table_rows) - 1)); }

fn nibble(row: u32, d: u32) -> f32 {
  let at = row * p.row_bytes + d / 2u;
  let byte = weight[at / 4u] >> ((at % 4u) * 8u);
#if HIGH_FIRST
  return f32((byte >> (4u - (d & 1u) * 4u)) & 15u) - 8.0;
#else
  return f32((byte >> ((d & 1u) * 4u)) & 15u) - 8.0;
#endif
}

fn factors(row: u32, d: u32) -> vec2<f32> {
  let at = row * p.groups + d / p.group;
#if ZEROS
  return vec2<f32>(scales_load(at), f32(zeros_load(at)));
#else
  return vec2<f32>(scales_load(at), 0.0);
#endif
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q * 4u >= p.count) { return; }
  var result: vec4<f32>;
#if WIDE
  let row = table_row(q * 4u);
  let d = (q * 4u) % p.dim;
  let f = factors(row, d);
  for (var k = 0u; k < 4u; k++) { result[k] = (nibble(row, d + k) - f.y) * f.x; }
#else
  for (var k = 0u; k < 4u; k++) {
    let i = min(q * 4u + k, p.count - 1u);
    let row = table_row(i);
    let f = factors(row, i % p.dim);
    result[k] = (nibble(row, i % p.dim) - f.y) * f.x;
  }
#endif
  out_put(q, result);
}
