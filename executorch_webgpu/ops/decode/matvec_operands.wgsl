// What both kernels of the one-token product bind, and which rows a team of LANES invocations takes: y = W x for 4-bit
// weights with a scale per group. A lane takes 32 columns at a time, a chunk: one vec4<u32> of each of ROWS (4 or 8)
// rows. Scales are packed as [rows / 4][groups] quads of rows.
//   NORM      x is RMS-normalised first; the factor is the same for every column, so it is applied to the sums
//   EPILOGUE  add: y + residual; swiglu: silu(gate row) * up row, ROWS being 8: four of each
//   PARTS     up to three matrices that share x, one after the other in the weights' storage
#include "common/tensor.wgsl" NAME=x BINDING=0 DTYPE=${T} ACCESS=read VEC4=1
@group(0) @binding(1) var<storage, read> weight: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> scale: array<vec4<f32>>;
#include "common/tensor.wgsl" NAME=out0 BINDING=3 DTYPE=${T} ACCESS=read_write VEC4=1
#if PARTS == 3
#include "common/tensor.wgsl" NAME=out1 BINDING=4 DTYPE=${T} ACCESS=read_write VEC4=1
#include "common/tensor.wgsl" NAME=out2 BINDING=5 DTYPE=${T} ACCESS=read_write VEC4=1
#endif
#if EPILOGUE == add
#include "common/tensor.wgsl" NAME=residual BINDING=4 DTYPE=${T} ACCESS=read VEC4=1
#endif
#if NORM
#include "common/tensor.wgsl" NAME=gamma BINDING=6 DTYPE=${T} ACCESS=read VEC4=1
#endif
struct Params {
  eps: f32,
  inverse_k: f32,
  rows: vec4<u32>,
  first_team: vec4<u32>,
  weight_base: vec4<u32>,
  scale_base: vec4<u32>,
}
@group(0) @binding(7) var<uniform> p: Params;

const LANES: u32 = ${LANES}u;
const TEAMS: u32 = ${TEAMS}u;
const THREADS: u32 = LANES * TEAMS;
const CHUNKS: u32 = ${CHUNKS}u;  // of a row
const GROUPS: u32 = ${GROUPS}u;  // of a row
const CHUNKS_PER_GROUP: u32 = CHUNKS / GROUPS;
#if SUBGROUP
const PARTIALS: u32 = LANES / ${SUBGROUP}u;
#else
const PARTIALS: u32 = LANES;
#endif
var<workgroup> partial_a: array<vec4<f32>, PARTIALS * TEAMS>;
#if ROWS == 8
var<workgroup> partial_b: array<vec4<f32>, PARTIALS * TEAMS>;
#endif
#if NORM
var<workgroup> partial_c: array<f32, PARTIALS * TEAMS>;
#endif
