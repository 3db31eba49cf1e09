// out = x W^T + bias for many rows of x: a workgroup of 16 x 16 invocations makes a tile of 16 SIZE x 16 SIZE outputs,
// each invocation SIZE x SIZE of them (SIZE is 4 or 8) in registers. Tiles of x and of the dequantized weights, DEPTH
// columns deep, lie transposed in workgroup memory. The next tiles are loaded while these are used.
#include "common/tensor.wgsl" NAME=x BINDING=0 DTYPE=${X} ACCESS=read VEC4=1
@group(0) @binding(1) var<storage, read> weight: array<u32>;
#include "common/tensor.wgsl" NAME=scales BINDING=2 DTYPE=${S} ACCESS=read
#if SPLIT
// The sums of each split of the columns; matmul_sum.wgsl adds them.
@group(0) @binding(3) var<storage, read_write> out: array<vec4<f32>>;
#else
#include "common/tensor.wgsl" NAME=out BINDING=3 DTYPE=${X} ACCESS=read_write VEC4=${WIDE}
#endif
#if BIAS
#include "common/tensor.wgsl" NAME=bias BINDING=4 DTYPE=${BIAS} ACCESS=read
#endif
struct Params {
  rows: u32,
  outputs: u32,
  columns: u32,
  group: u32,
  scale_stride: u32,
  span: u32,  // columns of a split
}
@group(0) @binding(5) var<uniform> p: Params;

const TILE: u32 = ${SIZE}u * 16u;
const QUADS: u32 = TILE / 4u + 1u;  // padded against bank conflicts
#if SIZE == 8
const DEPTH: u32 = 16u;
#else
const DEPTH: u32 = 32u;
#endif
const STEP: u32 = 256u / TILE;
const XSTEP: u32 = 1024u / DEPTH;
var<workgroup> tile_x: array<vec4<f32>, DEPTH * QUADS>;
var<workgroup> tile_w: array<vec4<f32>, DEPTH * QUADS>;

fn nibble_values(word: u32, shift: vec4<u32>) -> vec4<f32> {
  return vec4<f32>((vec4<u32>(word) >> shift) & vec4<u32>(15u)) - vec4<f32>(8.0);
}

fn keep_x(k: u32, m: u32, v: vec4<f32>) {
  tile_x[k * QUADS + m / 4u][m % 4u] = v.x;
  tile_x[(k + 1u) * QUADS + m / 4u][m % 4u] = v.y;
  tile_x[(k + 2u) * QUADS + m / 4u][m % 4u] = v.z;
  tile_x[(k + 3u) * QUADS + m / 4u][m % 4u] = v.w;
}

fn keep_w(k: u32, n: u32, v: vec4<f32>) {
  tile_w[k * QUADS + n / 4u][n % 4u] = v.x;
  tile_w[(k + 1u) * QUADS + n / 4u][n % 4u] = v.y;
  tile_w[(k + 2u) * QUADS + n / 4u][n % 4u] = v.z;
  tile_w[(k + 3u) * QUADS + n / 4u][n % 4u] = v.w;
}

fn write_four(split: u32, row: u32, n: u32, sums: vec4<f32>) {
  if (row >= p.rows) { return; }
#if SPLIT
  if (n < p.outputs) { out[((split * p.rows + row) * p.outputs + n) / 4u] = sums; }
#else
  var v = sums;
#if BIAS
  for (var k = 0u; k < 4u; k++) { v[k] += bias_load(min(n + k, p.outputs - 1u)); }
#endif
#if WIDE
  if (n < p.outputs) { out_put((row * p.outputs + n) / 4u, v); }
#else
  for (var k = 0u; k < 4u; k++) {
    if (n + k < p.outputs) { out[row * p.outputs + n + k] = v[k]; }
  }
#endif
#endif
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let m0 = workgroup.y * TILE;
  let n0 = workgroup.x * TILE;
  let tx = local % 16u;
  let ty = local / 16u;

  // What this invocation loads of each tile: two quads of x, one word (eight columns) of a weight row.
  let lm = local % TILE;
  let lk = local / TILE;
  // Neighbours load neighbouring quads of a row of x.
  let xk = local % (DEPTH / 4u);
  let xm = local / (DEPTH / 4u);
  let x_row = min(m0 + xm, p.rows - 1u) * (p.columns / 4u);
  let x_row_b = min(m0 + xm + XSTEP, p.rows - 1u) * (p.columns / 4u);
  let n_row = min(n0 + lm, p.outputs - 1u);
  let w_row = n_row * (p.columns / 8u);

  let begin = workgroup.z * p.span;
  let end = min(begin + p.span, p.columns);
  var xa = x_quad(x_row + begin / 4u + xk);
  var xb = x_quad(x_row_b + begin / 4u + xk);
  var word = weight[w_row + begin / 8u + lk];
  var scale = scales_load(((begin + lk * 8u) / p.group) * p.scale_stride + n_row);

#include "linear4/matmul_registers.wgsl" I=0
#include "linear4/matmul_registers.wgsl" I=1
#include "linear4/matmul_registers.wgsl" I=2
#include "linear4/matmul_registers.wgsl" I=3
#if SIZE == 8
#include "linear4/matmul_registers.wgsl" I=4
#include "linear4/matmul_registers.wgsl" I=5
#include "linear4/matmul_registers.wgsl" I=6
#include "linear4/matmul_registers.wgsl" I=7
#endif

  for (var k0 = begin; k0 < end; k0 += DEPTH) {
    keep_x(xk * 4u, xm, xa);
    keep_x(xk * 4u, xm + XSTEP, xb);
#if HIGH_FIRST
    keep_w(lk * 8u, lm, nibble_values(word, vec4<u32>(4u, 0u, 12u, 8u)) * scale);
    keep_w(lk * 8u + 4u, lm, nibble_values(word, vec4<u32>(20u, 16u, 28u, 24u)) * scale);
#else
    keep_w(lk * 8u, lm, nibble_values(word, vec4<u32>(0u, 4u, 8u, 12u)) * scale);
    keep_w(lk * 8u + 4u, lm, nibble_values(word, vec4<u32>(16u, 20u, 24u, 28u)) * scale);
#endif
    workgroupBarrier();
    // The last turn loads its own tile again, so that no index passes the end.
    let next = min(k0 + DEPTH, end - DEPTH);
    xa = x_quad(x_row + next / 4u + xk);
    xb = x_quad(x_row_b + next / 4u + xk);
    word = weight[w_row + next / 8u + lk];
    scale = scales_load(((next + lk * 8u) / p.group) * p.scale_stride + n_row);
#include "linear4/matmul_columns.wgsl" BASE=0
#include "linear4/matmul_columns.wgsl" BASE=8
#if SIZE == 4
#include "linear4/matmul_columns.wgsl" BASE=16
#include "linear4/matmul_columns.wgsl" BASE=24
#endif
    workgroupBarrier();
  }

  let row = m0 + ty * 4u;
  let n = n0 + tx * 4u;
#include "linear4/matmul_write.wgsl" I=0 ROW=0
#include "linear4/matmul_write.wgsl" I=1 ROW=1
#include "linear4/matmul_write.wgsl" I=2 ROW=2
#include "linear4/matmul_write.wgsl" I=3 ROW=3
#if SIZE == 8
#include "linear4/matmul_write.wgsl" I=4 ROW=64
#include "linear4/matmul_write.wgsl" I=5 ROW=65
#include "linear4/matmul_write.wgsl" I=6 ROW=66
#include "linear4/matmul_write.wgsl" I=7 ROW=67
#endif
}
