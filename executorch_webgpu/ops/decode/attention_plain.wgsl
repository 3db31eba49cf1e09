// attention.wgsl without subgroup operations, for any size of head: a SPLIT of positions for the HEADS query heads of
// one key-value head. Writes per head the weighted values, the largest score and the sum of weights.
#include "common/tensor.wgsl" NAME=q BINDING=0 DTYPE=${T} ACCESS=read VEC4=1
#include "common/tensor.wgsl" NAME=k BINDING=1 DTYPE=${T} ACCESS=read VEC4=1
#include "common/tensor.wgsl" NAME=v BINDING=2 DTYPE=${T} ACCESS=read VEC4=1
#include "common/tensor.wgsl" NAME=cosine BINDING=3 DTYPE=${T} ACCESS=read
#include "common/tensor.wgsl" NAME=sine BINDING=4 DTYPE=${T} ACCESS=read
#include "common/tensor.wgsl" NAME=k_cache BINDING=5 DTYPE=${T} ACCESS=read_write VEC4=1
#include "common/tensor.wgsl" NAME=v_cache BINDING=6 DTYPE=${T} ACCESS=read_write VEC4=1
@group(0) @binding(7) var<storage, read_write> partial: array<vec4<f32>>;
struct Params {
  start: u32,
  kv_heads: u32,
  max_splits: u32,
  angles: u32,
  scale: f32,
}
@group(0) @binding(8) var<uniform> p: Params;
#include "decode/rotate.wgsl"

const HEADS: u32 = ${HEADS}u;
const QUADS: u32 = ${QUADS}u;  // quads of a head
const SPLIT: u32 = ${SPLIT}u;
const THREADS: u32 = ${THREADS}u;
const POSITIONS: u32 = THREADS / QUADS;  // positions that the workgroup reads at once
const STEPS: u32 = (SPLIT + POSITIONS - 1u) / POSITIONS;
var<workgroup> query: array<vec4<f32>, HEADS * QUADS>;
var<workgroup> score: array<f32, HEADS * SPLIT>;
var<workgroup> statistic: array<vec2<f32>, HEADS>;
var<workgroup> gathered: array<vec4<f32>, HEADS * THREADS>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let kv_head = workgroup.x;
  let base = workgroup.y * SPLIT;
  let count = min(SPLIT, p.start + 1u - base);
  for (var i = thread; i < HEADS * QUADS; i += THREADS) {
    query[i] = rotate(q_quad(kv_head * HEADS * QUADS + i), i % QUADS) * p.scale;
  }
  // The workgroup whose positions hold the new one writes it, and reads it back after the barrier.
  if (base + count == p.start + 1u && thread < QUADS) {
    let source = kv_head * QUADS + thread;
    let fresh = (p.start * p.kv_heads + kv_head) * QUADS + thread;
    k_cache_put(fresh, rotate(k_quad(source), thread));
    v_cache_put(fresh, v_quad(source));
  }
  storageBarrier();
  workgroupBarrier();

  let lane = thread % QUADS;
  let row = thread / QUADS;
  // Everything is loaded before it is needed, so that the loads wait together.
  var values: array<vec4<f32>, STEPS>;
  for (var i = 0u; i < STEPS; i++) {
    let position = base + min(row + i * POSITIONS, count - 1u);
    values[i] = v_cache_quad((position * p.kv_heads + kv_head) * QUADS + lane);
  }
  for (var i = thread; i < SPLIT * HEADS; i += THREADS) {
    let h = i / SPLIT;
    let first = ((base + min(i % SPLIT, count - 1u)) * p.kv_heads + kv_head) * QUADS;
    var s = 0.0;
    for (var d = 0u; d < QUADS; d++) { s += dot(query[h * QUADS + d], k_cache_quad(first + d)); }
    score[i] = s;
  }
  workgroupBarrier();
  // One invocation turns the scores of a head into weights.
  for (var h = thread; h < HEADS; h += THREADS) {
    var largest = score[h * SPLIT];
    for (var at = 1u; at < count; at++) { largest = max(largest, score[h * SPLIT + at]); }
    var total = 0.0;
    for (var at = 0u; at < SPLIT; at++) {
      let weight = select(0.0, exp(score[h * SPLIT + at] - largest), at < count);
      score[h * SPLIT + at] = weight;
      total += weight;
    }
    statistic[h] = vec2<f32>(largest, total);
  }
  workgroupBarrier();

  var sum: array<vec4<f32>, HEADS>;
  for (var i = 0u; i < STEPS; i++) {
    let at = min(row + i * POSITIONS, SPLIT - 1u);
    for (var h = 0u; h < HEADS; h++) { sum[h] += score[h * SPLIT + at] * values[i]; }
  }
  for (var h = 0u; h < HEADS; h++) { gathered[h * THREADS + thread] = sum[h]; }
  workgroupBarrier();
  for (var i = thread; i < HEADS * (QUADS + 1u); i += THREADS) {
    let h = i / (QUADS + 1u);
    let quad = i % (QUADS + 1u);
    let slot = ((kv_head * HEADS + h) * p.max_splits + workgroup.y) * (QUADS + 1u) + quad;
    if (quad == QUADS) {
      partial[slot] = vec4<f32>(statistic[h], 0.0, 0.0);
    } else {
      var all = gathered[h * THREADS + quad];
      for (var r = 1u; r < POSITIONS; r++) { all += gathered[h * THREADS + r * QUADS + quad]; }
      partial[slot] = all;
    }
  }
}
