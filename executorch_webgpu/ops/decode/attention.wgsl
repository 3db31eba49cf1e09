// One new token attends to the cache: rotary embedding of q and k, the cache's new row, and the softmax over the
// positions of a workgroup: all of them, or one SPLIT, which attention_combine.wgsl joins with the others. A workgroup
// takes TOGETHER query heads of one key-value head. Rows of QUADS lanes take the positions in turn, BATCH at a time,
// each row with a running maximum and sum; the rows are joined at the end. The new position's key and value are taken
// from k and v, so that no invocation waits for another's write.
#include "common/tensor.wgsl" NAME=q BINDING=0 DTYPE=${T} ACCESS=read VEC4=1
#include "common/tensor.wgsl" NAME=k BINDING=1 DTYPE=${T} ACCESS=read VEC4=1
#include "common/tensor.wgsl" NAME=v BINDING=2 DTYPE=${T} ACCESS=read VEC4=1
#include "common/tensor.wgsl" NAME=cosine BINDING=3 DTYPE=${T} ACCESS=read
#include "common/tensor.wgsl" NAME=sine BINDING=4 DTYPE=${T} ACCESS=read
#include "common/tensor.wgsl" NAME=k_cache BINDING=5 DTYPE=${T} ACCESS=read_write VEC4=1
#include "common/tensor.wgsl" NAME=v_cache BINDING=6 DTYPE=${T} ACCESS=read_write VEC4=1
#if SPLIT
@group(0) @binding(7) var<storage, read_write> partial: array<vec4<f32>>;
#else
#include "common/tensor.wgsl" NAME=out BINDING=7 DTYPE=${T} ACCESS=read_write VEC4=1
#endif
struct Params {
  start: u32,
  kv_heads: u32,
  max_splits: u32,
  angles: u32,
  scale: f32,
}
@group(0) @binding(8) var<uniform> p: Params;
#include "decode/rotate.wgsl"

const HEADS: u32 = ${HEADS}u;  // query heads of a key-value head
const TOGETHER: u32 = ${TOGETHER}u;
const QUADS: u32 = ${QUADS}u;  // quads of a head
const THREADS: u32 = ${THREADS}u;
const ROWS: u32 = THREADS / QUADS;
const BATCH: u32 = ${BATCH}u;
const SUBGROUPS: u32 = THREADS / ${SUBGROUP}u;
const LOWEST: f32 = -3.0e38;  // finite, so that the difference of two is a number
var<workgroup> sums: array<vec4<f32>, TOGETHER * SUBGROUPS * QUADS>;
var<workgroup> statistics: array<vec2<f32>, TOGETHER * SUBGROUPS>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32,
        @builtin(subgroup_invocation_id) sub_lane: u32) {
  let head = workgroup.x * TOGETHER;
  let lane = thread % QUADS;
  let row = thread / QUADS;
  let stride = p.kv_heads * QUADS;
  let column = (head / HEADS) * QUADS + lane;
#if SPLIT
  let first = workgroup.y * ${SPLIT}u;
  let end = min(first + ${SPLIT}u, p.start + 1u);
#else
  let first = 0u;
  let end = p.start + 1u;
#endif
  var keys: array<vec4<f32>, BATCH>;
  var values: array<vec4<f32>, BATCH>;
  for (var i = 0u; i < BATCH; i++) {
    let at = min(first + row + i * ROWS, p.start) * stride + column;
    keys[i] = k_cache_quad(at);
    values[i] = v_cache_quad(at);
  }
  var query: array<vec4<f32>, TOGETHER>;
  for (var h = 0u; h < TOGETHER; h++) { query[h] = rotate(q_quad((head + h) * QUADS + lane), lane) * p.scale; }
  let new_key = rotate(k_quad(column), lane);
  let new_value = v_quad(column);
  if (head % HEADS == 0u && row == 0u && end == p.start + 1u) {
    k_cache_put(p.start * stride + column, new_key);
    v_cache_put(p.start * stride + column, new_value);
  }
  var largest: array<f32, TOGETHER>;
  var total: array<f32, TOGETHER>;
  var sum: array<vec4<f32>, TOGETHER>;
  for (var h = 0u; h < TOGETHER; h++) {
    largest[h] = LOWEST;
    total[h] = 0.0;
    sum[h] = vec4<f32>(0.0);
  }
  for (var begin = first; begin < end; begin += BATCH * ROWS) {
    if (begin > first) {
      for (var i = 0u; i < BATCH; i++) {
        let at = min(begin + row + i * ROWS, p.start) * stride + column;
        keys[i] = k_cache_quad(at);
        values[i] = v_cache_quad(at);
      }
    }
    for (var i = 0u; i < BATCH; i++) {
      // Past the end the new row stands in for old ones: whatever those hold must not meet a weight of zero.
      let is_new = begin + row + i * ROWS >= p.start;
      keys[i] = select(keys[i], new_key, is_new);
      values[i] = select(values[i], new_value, is_new);
    }
    for (var h = 0u; h < TOGETHER; h++) {
      var scores: array<f32, BATCH>;
      var next = largest[h];
      for (var i = 0u; i < BATCH; i++) {
        var score = dot(query[h], keys[i]);
        for (var mask = QUADS / 2u; mask > 0u; mask = mask / 2u) { score += subgroupShuffleXor(score, mask); }
        scores[i] = select(LOWEST, score, begin + row + i * ROWS < end);
        next = max(next, scores[i]);
      }
      let kept = exp(largest[h] - next);
      total[h] *= kept;
      sum[h] *= kept;
      for (var i = 0u; i < BATCH; i++) {
        // A row beyond the last position has met LOWEST alone: its weights of one vanish when the rows are joined.
        let weight = exp(scores[i] - next);
        total[h] += weight;
        sum[h] += weight * values[i];
      }
      largest[h] = next;
    }
  }
  let subgroup = thread / ${SUBGROUP}u;
  for (var h = 0u; h < TOGETHER; h++) {
    for (var mask = QUADS; mask < ${SUBGROUP}u; mask = mask * 2u) {
      let next = max(largest[h], subgroupShuffleXor(largest[h], mask));
      let kept = exp(largest[h] - next);
      total[h] *= kept;
      sum[h] *= kept;
      total[h] += subgroupShuffleXor(total[h], mask);
      sum[h] += subgroupShuffleXor(sum[h], mask);
      largest[h] = next;
    }
    let at = h * SUBGROUPS + subgroup;
    if (sub_lane < QUADS) { sums[at * QUADS + sub_lane] = sum[h]; }
    if (sub_lane == 0u) { statistics[at] = vec2<f32>(largest[h], total[h]); }
  }
  workgroupBarrier();
  if (row >= TOGETHER) { return; }
  var highest = LOWEST;
  for (var s = 0u; s < SUBGROUPS; s++) { highest = max(highest, statistics[row * SUBGROUPS + s].x); }
  var weights = 0.0;
  var whole = vec4<f32>(0.0);
  for (var s = 0u; s < SUBGROUPS; s++) {
    let at = row * SUBGROUPS + s;
    let factor = exp(statistics[at].x - highest);
    weights += statistics[at].y * factor;
    whole += sums[at * QUADS + lane] * factor;
  }
#if SPLIT
  let slot = ((head + row) * p.max_splits + workgroup.y) * (QUADS + 1u);
  partial[slot + lane] = whole;
  if (lane == 0u) { partial[slot + QUADS] = vec4<f32>(highest, weights, 0.0, 0.0); }
#else
  out_put((head + row) * QUADS + lane, whole / weights);
#endif
}
