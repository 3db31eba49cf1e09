// Attention of few query rows, first part: a workgroup takes KEYS keys of one key head and all query heads that share
// it (at most ROWS query rows), and leaves the unnormalised sum, the peak and the total weight of its keys.
#include "common/tensor.wgsl" NAME=query BINDING=0 DTYPE=${Q} ACCESS=read VEC4=1
#include "common/tensor.wgsl" NAME=keys BINDING=1 DTYPE=${KV} ACCESS=read VEC4=1
#include "common/tensor.wgsl" NAME=values BINDING=2 DTYPE=${KV} ACCESS=read VEC4=1
@group(0) @binding(3) var<storage, read_write> partial: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> stats: array<vec2<f32>>;
#if MASK
#include "common/tensor.wgsl" NAME=mask BINDING=5 DTYPE=${MASK} ACCESS=read
#endif
#include "attention/params.wgsl"
@group(0) @binding(6) var<uniform> p: Params;
#include "attention/score.wgsl"

const KEYS: u32 = ${KEYS}u;
const ROWS: u32 = ${ROWS}u;
const QUADS: u32 = ${DIM}u / 4u;
// One quad more than a key has, so that lanes that read the same quad of different keys meet different banks.
const PITCH: u32 = QUADS + 1u;
const LANES: u32 = 128u;
var<workgroup> tile: array<vec4<f32>, KEYS * PITCH>;
var<workgroup> queries: array<vec4<f32>, ROWS * QUADS>;
var<workgroup> scores: array<f32, ROWS * KEYS>;
var<workgroup> weights: array<f32, ROWS * KEYS>;
var<workgroup> peaks: array<f32, ROWS>;

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let key_0 = workgroup.x * KEYS;
  let key_heads = p.heads / p.share;
  let batch = workgroup.y / key_heads;
  let key_head = workgroup.y % key_heads;
  let first = workgroup.z * ROWS;
  let all_rows = p.rows * p.share;
  let base = (batch * p.k_strides.x + key_head * p.k_strides.z) / 4u;
  let pitch = p.k_strides.y / 4u;
  for (var i = local; i < KEYS * QUADS; i += LANES) {
    let key = min(key_0 + i / QUADS, p.length - 1u);
    tile[(i / QUADS) * PITCH + i % QUADS] = keys_quad(base + key * pitch + i % QUADS);
  }
  for (var i = local; i < ROWS * QUADS; i += LANES) {
    let r = min(first + i / QUADS, all_rows - 1u);
    let head = key_head * p.share + r % p.share;
    queries[i] = query_quad((batch * p.q_strides.x + (r / p.share) * p.q_strides.y + head * p.q_strides.z) / 4u + i % QUADS);
  }
  workgroupBarrier();
  for (var i = local; i < ROWS * KEYS; i += LANES) {
    let key = i % KEYS;
    let r = i / KEYS;
    var sum = vec4<f32>(0.0);
    for (var d = 0u; d < QUADS; d++) { sum += queries[r * QUADS + d] * tile[key * PITCH + d]; }
    let row = min(first + r, all_rows - 1u);
    scores[i] = masked_score(dot(sum, vec4<f32>(1.0)), batch, key_head * p.share + row % p.share, row / p.share,
                             key_0 + key);
  }
  workgroupBarrier();
  for (var i = local; i < KEYS * QUADS; i += LANES) {
    let key = min(key_0 + i / QUADS, p.length - 1u);
    tile[(i / QUADS) * PITCH + i % QUADS] = values_quad(base + key * pitch + i % QUADS);
  }
  for (var i = local; i < ROWS * KEYS; i += LANES) {
    let r = i / KEYS;
    var peak = scores[r * KEYS];
    for (var key = 1u; key < KEYS; key++) { peak = max(peak, scores[r * KEYS + key]); }
    weights[i] = weight_of(scores[i], peak);
    if (i % KEYS == 0u) { peaks[r] = peak; }
  }
  workgroupBarrier();
  for (var i = local; i < ROWS * QUADS; i += LANES) {
    let r = i / QUADS;
    let d = i % QUADS;
    var sum = vec4<f32>(0.0);
    var total = 0.0;
    for (var key = 0u; key < KEYS; key++) {
      let w = weights[r * KEYS + key];
      sum += w * tile[key * PITCH + d];
      total += w;
    }
    if (first + r < all_rows) {
      let slot = (workgroup.y * all_rows + first + r) * p.most_splits + workgroup.x;
      partial[slot * QUADS + d] = sum;
      if (d == 0u) { stats[slot] = vec2<f32>(peaks[r], total); }
    }
  }
}
