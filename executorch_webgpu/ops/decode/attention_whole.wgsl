// One new token attends to a cache that is still short: rotary embedding of q and k, the cache's new row and the whole
// softmax in one launch, a workgroup for each query head. Rows of QUADS lanes take the positions in turn, BATCH at a
// time, each row with a running maximum and sum; the rows are joined at the end. The new position's key and value are
// taken from k and v, so that no invocation waits for another's write.
#include "common/tensor.wgsl" NAME=q BINDING=0 DTYPE=${T} ACCESS=read VEC4=1
#include "common/tensor.wgsl" NAME=k BINDING=1 DTYPE=${T} ACCESS=read VEC4=1
#include "common/tensor.wgsl" NAME=v BINDING=2 DTYPE=${T} ACCESS=read VEC4=1
#include "common/tensor.wgsl" NAME=cosine BINDING=3 DTYPE=${T} ACCESS=read
#include "common/tensor.wgsl" NAME=sine BINDING=4 DTYPE=${T} ACCESS=read
#include "common/tensor.wgsl" NAME=k_cache BINDING=5 DTYPE=${T} ACCESS=read_write VEC4=1
#include "common/tensor.wgsl" NAME=v_cache BINDING=6 DTYPE=${T} ACCESS=read_write VEC4=1
#include "common/tensor.wgsl" NAME=out BINDING=7 DTYPE=${T} ACCESS=read_write VEC4=1
struct Params {
  start: u32,
  kv_heads: u32,
  scale: f32,
}
@group(0) @binding(8) var<uniform> p: Params;
#include "decode/rotate.wgsl"

const HEADS: u32 = ${HEADS}u;  // query heads of a key-value head
const QUADS: u32 = ${QUADS}u;  // quads of a head
const THREADS: u32 = ${THREADS}u;
const ROWS: u32 = THREADS / QUADS;
const BATCH: u32 = ${BATCH}u;
const SUBGROUPS: u32 = THREADS / ${SUBGROUP}u;
const LOWEST: f32 = -3.0e38;  // finite, so that the difference of two is a number
var<workgroup> sums: array<vec4<f32>, SUBGROUPS * QUADS>;
var<workgroup> statistics: array<vec2<f32>, SUBGROUPS>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32,
        @builtin(subgroup_invocation_id) sub_lane: u32) {
  let head = workgroup.x;
  let lane = thread % QUADS;
  let row = thread / QUADS;
  let stride = p.kv_heads * QUADS;
  let column = (head / HEADS) * QUADS + lane;
  var keys: array<vec4<f32>, BATCH>;
  var values: array<vec4<f32>, BATCH>;
  for (var i = 0u; i < BATCH; i++) {
    let at = min(row + i * ROWS, p.start) * stride + column;
    keys[i] = k_cache_quad(at);
    values[i] = v_cache_quad(at);
  }
  let query = rotate(q_quad(head * QUADS + lane), lane) * p.scale;
  let new_key = rotate(k_quad(column), lane);
  let new_value = v_quad(column);
  if (head % HEADS == 0u && row == 0u) {
    k_cache_put(p.start * stride + column, new_key);
    v_cache_put(p.start * stride + column, new_value);
  }
  var largest = LOWEST;
  var total = 0.0;
  var sum = vec4<f32>(0.0);
  for (var begin = 0u; begin <= p.start; begin += BATCH * ROWS) {
    if (begin > 0u) {
      for (var i = 0u; i < BATCH; i++) {
        let at = min(begin + row + i * ROWS, p.start) * stride + column;
        keys[i] = k_cache_quad(at);
        values[i] = v_cache_quad(at);
      }
    }
    var scores: array<f32, BATCH>;
    var next = largest;
    for (var i = 0u; i < BATCH; i++) {
      let position = begin + row + i * ROWS;
      // Past the end the new row stands in for old ones: whatever those hold must not meet a weight of zero.
      let is_new = position >= p.start;
      var score = dot(query, select(keys[i], new_key, is_new));
      values[i] = select(values[i], new_value, is_new);
      for (var mask = QUADS / 2u; mask > 0u; mask = mask / 2u) { score += subgroupShuffleXor(score, mask); }
      scores[i] = select(LOWEST, score, position <= p.start);
      next = max(next, scores[i]);
    }
    let kept = exp(largest - next);
    total *= kept;
    sum *= kept;
    for (var i = 0u; i < BATCH; i++) {
      // A row beyond the last position has met LOWEST alone: its weights of one vanish when the rows are joined.
      let weight = exp(scores[i] - next);
      total += weight;
      sum += weight * values[i];
    }
    largest = next;
  }
  for (var mask = QUADS; mask < ${SUBGROUP}u; mask = mask * 2u) {
    let next = max(largest, subgroupShuffleXor(largest, mask));
    let kept = exp(largest - next);
    total *= kept;
    sum *= kept;
    total += subgroupShuffleXor(total, mask);
    sum += subgroupShuffleXor(sum, mask);
    largest = next;
  }
  let subgroup = thread / ${SUBGROUP}u;
  if (sub_lane < QUADS) { sums[subgroup * QUADS + sub_lane] = sum; }
  if (sub_lane == 0u) { statistics[subgroup] = vec2<f32>(largest, total); }
  workgroupBarrier();
  if (thread >= QUADS) { return; }
  var highest = LOWEST;
  for (var s = 0u; s < SUBGROUPS; s++) { highest = max(highest, statistics[s].x); }
  var weights = 0.0;
  var whole = vec4<f32>(0.0);
  for (var s = 0u; s < SUBGROUPS; s++) {
    let factor = exp(statistics[s].x - highest);
    weights += statistics[s].y * factor;
    whole += sums[s * QUADS + thread] * factor;
  }
  out_put(head * QUADS + thread, whole / weights);
}
