// y = W x for 4-bit weights with a scale per group, one token. A team of LANES invocations takes ROWS (4 or 8) rows; a
// lane takes 32 columns at a time: one vec4<u32> of each row. x goes through workgroup memory in slabs of LANES * 32
// columns, padded so that the lanes' reads do not collide. Scales are packed as [rows / 4][groups] quads of rows.
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
  chunks: u32,
  groups: u32,
  chunks_per_group: u32,
  eps: f32,
  inverse_k: f32,
  rows: vec4<u32>,
  first_team: vec4<u32>,
  weight_base: vec4<u32>,
  scale_base: vec4<u32>,
}
@group(0) @binding(7) var<uniform> p: Params;
#include "common/nibbles.wgsl"

const LANES: u32 = ${LANES}u;
const TEAMS: u32 = ${TEAMS}u;
const THREADS: u32 = LANES * TEAMS;
#if SUBGROUP
const PARTIALS: u32 = LANES / ${SUBGROUP}u;
#else
const PARTIALS: u32 = LANES;
#endif
var<workgroup> slab: array<vec4<f32>, LANES * 9u>;
var<workgroup> partial_a: array<vec4<f32>, PARTIALS * TEAMS>;
#if ROWS == 8
var<workgroup> partial_b: array<vec4<f32>, PARTIALS * TEAMS>;
#endif
#if NORM
var<workgroup> partial_c: array<f32, PARTIALS * TEAMS>;
#endif

// A lane's 32 values of x, in registers: read once for all rows.
struct Chunk { x0: vec4<f32>, x1: vec4<f32>, x2: vec4<f32>, x3: vec4<f32>,
               x4: vec4<f32>, x5: vec4<f32>, x6: vec4<f32>, x7: vec4<f32> }

fn row_dot(w: vec4<u32>, c: Chunk) -> f32 {
  return dot(nibbles_low(w.x), c.x0) + dot(nibbles_high(w.x), c.x1)
       + dot(nibbles_low(w.y), c.x2) + dot(nibbles_high(w.y), c.x3)
       + dot(nibbles_low(w.z), c.x4) + dot(nibbles_high(w.z), c.x5)
       + dot(nibbles_low(w.w), c.x6) + dot(nibbles_high(w.w), c.x7);
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32
#if SUBGROUP
        , @builtin(subgroup_invocation_id) sub_lane: u32
#endif
) {
  let lane = thread % LANES;
  let team = thread / LANES;
  // Which matrix, and the first of this team's rows in it. Teams past the end repeat the last rows and write nothing.
  let number = workgroup.x * TEAMS + team;
  var part = 0u;
#if PARTS == 3
  if (number >= p.first_team.z) { part = 2u; } else if (number >= p.first_team.y) { part = 1u; }
#endif
#if EPILOGUE == swiglu
  let first = number * 4u;
  let part_b = 1u;
  let first_b = first;
#else
  let first = (number - p.first_team[part]) * ${ROWS}u;
  let part_b = part;
  let first_b = first + 4u;
#endif
  let last = p.rows[part] - 1u;
  let row_a = min(vec4<u32>(first) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(last));
  let base_a = row_a * p.chunks + p.weight_base[part];
  let scale_a = p.scale_base[part] + (row_a.x / 4u) * p.groups;
  var acc_a = vec4<f32>(0.0);
#if ROWS == 8
  let row_b = min(vec4<u32>(first_b) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(last));
  let base_b = row_b * p.chunks + p.weight_base[part_b];
  let scale_b = p.scale_base[part_b] + (row_b.x / 4u) * p.groups;
  var acc_b = vec4<f32>(0.0);
#endif
  var squares = 0.0;
  let at = lane * 9u;
  for (var begin = 0u; begin < p.chunks; begin += LANES) {
    let chunk = min(begin + lane, p.chunks - 1u);
    let wa0 = weight[base_a.x + chunk];
    let wa1 = weight[base_a.y + chunk];
    let wa2 = weight[base_a.z + chunk];
    let wa3 = weight[base_a.w + chunk];
    let group = chunk / p.chunks_per_group;
    let sa = scale[scale_a + group];
#if ROWS == 8
    let wb0 = weight[base_b.x + chunk];
    let wb1 = weight[base_b.y + chunk];
    let wb2 = weight[base_b.z + chunk];
    let wb3 = weight[base_b.w + chunk];
    let sb = scale[scale_b + group];
#endif
    workgroupBarrier();
    for (var i = thread; i < LANES * 8u; i += THREADS) {
      let quad = begin * 8u + i;
      var value = vec4<f32>(0.0);
      if (quad < p.chunks * 8u) {
        value = x_quad(quad);
#if NORM
        squares += dot(value, value);
        value *= gamma_quad(quad);
#endif
      }
      slab[i + i / 8u] = value;
    }
    workgroupBarrier();
    // Lanes past the last column meet zeros in the slab.
    let c = Chunk(slab[at], slab[at + 1u], slab[at + 2u], slab[at + 3u],
                  slab[at + 4u], slab[at + 5u], slab[at + 6u], slab[at + 7u]);
    let sum = ((c.x0 + c.x1) + (c.x2 + c.x3)) + ((c.x4 + c.x5) + (c.x6 + c.x7));
    let offset = vec4<f32>(24.0 * dot(vec4<f32>(1.0), sum));
    acc_a += sa * (vec4<f32>(row_dot(wa0, c), row_dot(wa1, c), row_dot(wa2, c), row_dot(wa3, c)) - offset);
#if ROWS == 8
    acc_b += sb * (vec4<f32>(row_dot(wb0, c), row_dot(wb1, c), row_dot(wb2, c), row_dot(wb3, c)) - offset);
#endif
  }

#if SUBGROUP
  acc_a = subgroupAdd(acc_a);
  if (sub_lane == 0u) { partial_a[thread / ${SUBGROUP}u] = acc_a; }
#if ROWS == 8
  acc_b = subgroupAdd(acc_b);
  if (sub_lane == 0u) { partial_b[thread / ${SUBGROUP}u] = acc_b; }
#endif
#if NORM
  squares = subgroupAdd(squares);
  if (sub_lane == 0u) { partial_c[thread / ${SUBGROUP}u] = squares; }
#endif
  workgroupBarrier();
  if (lane != 0u) { return; }
  for (var k = 1u; k < PARTIALS; k++) {
    acc_a += partial_a[team * PARTIALS + k];
#if ROWS == 8
    acc_b += partial_b[team * PARTIALS + k];
#endif
  }
#else
  partial_a[thread] = acc_a;
#if ROWS == 8
  partial_b[thread] = acc_b;
#endif
#if NORM
  partial_c[thread] = squares;
#endif
  for (var half = LANES / 2u; half > 0u; half = half / 2u) {
    workgroupBarrier();
    if (lane < half) {
      partial_a[thread] += partial_a[thread + half];
#if ROWS == 8
      partial_b[thread] += partial_b[thread + half];
#endif
    }
  }
  workgroupBarrier();
  if (lane != 0u) { return; }
  acc_a = partial_a[thread];
#if ROWS == 8
  acc_b = partial_b[thread];
#endif
#endif
#if NORM
  squares = 0.0;
  for (var k = 0u; k < PARTIALS * TEAMS; k++) { squares += partial_c[k]; }
  let factor = inverseSqrt(squares * p.inverse_k + p.eps);
  acc_a *= factor;
#if ROWS == 8
  acc_b *= factor;
#endif
#endif
  if (first >= p.rows[part]) { return; }
  let quad = first / 4u;
#if EPILOGUE == swiglu
  out0_put(quad, acc_a / (vec4<f32>(1.0) + exp(-acc_a)) * acc_b);
#else
#include "decode/matvec_write.wgsl" QUAD=quad SUM=acc_a
#if ROWS == 8
  if (first_b >= p.rows[part]) { return; }
  let next = quad + 1u;
#include "decode/matvec_write.wgsl" QUAD=next SUM=acc_b
#endif
#endif
}
