// out [N, K] = gradient^T x over M rows: a workgroup of 8 x 8 invocations makes 32 x 32 outputs, 4 x 4 each.
#include "common/tensor.wgsl" NAME=gradient BINDING=0 DTYPE=${X} ACCESS=read
#include "common/tensor.wgsl" NAME=x BINDING=1 DTYPE=${X} ACCESS=read
#include "common/tensor.wgsl" NAME=out BINDING=2 DTYPE=${X} ACCESS=read_write
struct Params {
  rows: u32,
  outputs: u32,
  columns: u32,
}
@group(0) @binding(3) var<uniform> p: Params;

const DEPTH: u32 = 16u;
var<workgroup> tile_g: array<vec4<f32>, DEPTH * 8u>;
var<workgroup> tile_x: array<vec4<f32>, DEPTH * 8u>;

fn four_g(row: u32, n: u32) -> vec4<f32> {
  var v = vec4<f32>(0.0);
  for (var k = 0u; k < 4u; k++) {
    if (row < p.rows && n + k < p.outputs) { v[k] = gradient_load(row * p.outputs + n + k); }
  }
  return v;
}

fn four_x(row: u32, column: u32) -> vec4<f32> {
  var v = vec4<f32>(0.0);
  for (var k = 0u; k < 4u; k++) {
    if (row < p.rows && column + k < p.columns) { v[k] = x_load(row * p.columns + column + k); }
  }
  return v;
}

fn write_row(n: u32, column: u32, v: vec4<f32>) {
  if (n >= p.outputs || column >= p.columns) { return; }
#if WIDE
  out_put((n * p.columns + column) / 4u, v);
#else
  for (var k = 0u; k < 4u; k++) {
    if (column + k < p.columns) { out[n * p.columns + column + k] = v[k]; }
  }
#endif
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let tx = local % 8u;
  let ty = local / 8u;
  let n = workgroup.y * 32u;
  let column = workgroup.x * 32u;
  var c0 = vec4<f32>(0.0);
  var c1 = vec4<f32>(0.0);
  var c2 = vec4<f32>(0.0);
  var c3 = vec4<f32>(0.0);
  for (var row = 0u; row < p.rows; row += DEPTH) {
    for (var i = local; i < DEPTH * 8u; i += 64u) {
      tile_g[i] = four_g(row + i / 8u, n + (i % 8u) * 4u);
      tile_x[i] = four_x(row + i / 8u, column + (i % 8u) * 4u);
    }
    workgroupBarrier();
    for (var k = 0u; k < DEPTH; k++) {
      let a = tile_g[k * 8u + ty];
      let b = tile_x[k * 8u + tx];
      c0 += a.x * b;
      c1 += a.y * b;
      c2 += a.z * b;
      c3 += a.w * b;
    }
    workgroupBarrier();
  }
  write_row(n + ty * 4u, column + tx * 4u, c0);
  write_row(n + ty * 4u + 1u, column + tx * 4u, c1);
  write_row(n + ty * 4u + 2u, column + tx * 4u, c2);
  write_row(n + ty * 4u + 3u, column + tx * 4u, c3);
}
