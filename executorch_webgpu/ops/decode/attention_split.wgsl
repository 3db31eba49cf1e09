// One new token attends to the cache: rotary embedding of q and k, the cache's new row, and the softmax over one
// SPLIT of positions for the HEADS query heads of one key-value head. Writes per head the weighted values, the largest
// score and the sum of weights; attention_combine.wgsl joins the splits.
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
  scale: f32,
}
@group(0) @binding(8) var<uniform> p: Params;

const HEADS: u32 = ${HEADS}u;
const QUADS: u32 = ${QUADS}u;  // quads of a head
const SPLIT: u32 = ${SPLIT}u;
const THREADS: u32 = 128u;
const POSITIONS: u32 = THREADS / QUADS;  // positions that the workgroup reads at once
var<workgroup> query: array<vec4<f32>, HEADS * QUADS>;
var<workgroup> score: array<array<f32, SPLIT>, HEADS>;
var<workgroup> gathered: array<vec4<f32>, THREADS>;

// Pairs are neighbours: (2i, 2i + 1) turn by the angle of row 0 of the tables.
fn rotate(x: vec4<f32>, quad: u32) -> vec4<f32> {
  let c = vec2<f32>(cosine_load(quad * 2u), cosine_load(quad * 2u + 1u));
  let s = vec2<f32>(sine_load(quad * 2u), sine_load(quad * 2u + 1u));
  return vec4<f32>(x.x * c.x - x.y * s.x, x.x * s.x + x.y * c.x, x.z * c.y - x.w * s.y, x.z * s.y + x.w * c.y);
}

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
    let target_quad = (p.start * p.kv_heads + kv_head) * QUADS + thread;
    k_cache_put(target_quad, rotate(k_quad(source), thread));
    v_cache_put(target_quad, v_quad(source));
  }
  storageBarrier();
  workgroupBarrier();

  let lane = thread % QUADS;
  let row = thread / QUADS;
#if SUBGROUP
  for (var at = row; at < SPLIT; at += POSITIONS) {
    let position = base + min(at, count - 1u);
    let key = k_cache_quad((position * p.kv_heads + kv_head) * QUADS + lane);
    for (var h = 0u; h < HEADS; h++) {
      var s = dot(query[h * QUADS + lane], key);
      for (var mask = QUADS / 2u; mask > 0u; mask = mask / 2u) { s += subgroupShuffleXor(s, mask); }
      if (lane == 0u) { score[h][at] = s; }
    }
  }
#else
  for (var i = thread; i < SPLIT * HEADS; i += THREADS) {
    let h = i / SPLIT;
    let at = i % SPLIT;
    let first = ((base + min(at, count - 1u)) * p.kv_heads + kv_head) * QUADS;
    var s = 0.0;
    for (var d = 0u; d < QUADS; d++) { s += dot(query[h * QUADS + d], k_cache_quad(first + d)); }
    score[h][at] = s;
  }
#endif
  workgroupBarrier();

  // The largest score of each head, then the weights in place of the scores.
  for (var h = 0u; h < HEADS; h++) {
    var largest = score[h][0];
    for (var at = 1u; at < count; at++) { largest = max(largest, score[h][at]); }
    workgroupBarrier();
    for (var at = thread; at < count; at += THREADS) { score[h][at] = exp(score[h][at] - largest); }
    workgroupBarrier();
    var total = 0.0;
    for (var at = 0u; at < count; at++) { total += score[h][at]; }
    var sum = vec4<f32>(0.0);
    for (var at = row; at < count; at += POSITIONS) {
      sum += score[h][at] * v_cache_quad(((base + at) * p.kv_heads + kv_head) * QUADS + lane);
    }
    gathered[thread] = sum;
    workgroupBarrier();
    let slot = ((kv_head * HEADS + h) * p.max_splits + workgroup.y) * (QUADS + 1u);
    if (thread < QUADS) {
      var all = gathered[thread];
      for (var r = 1u; r < POSITIONS; r++) { all += gathered[r * QUADS + thread]; }
      partial[slot + thread] = all;
    } else if (thread == QUADS) {
      partial[slot + QUADS] = vec4<f32>(largest, total, 0.0, 0.0);
    }
  }
}
