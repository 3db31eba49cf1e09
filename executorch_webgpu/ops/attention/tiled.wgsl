// Attention of many query rows: a workgroup of 16 x 16 invocations makes 64 rows of one head. It walks over the keys in
// tiles of 32, tiles that no row may see left out, and keeps a running peak and sum (online softmax). An invocation
// holds four rows of two keys while scoring, and four rows of four columns of every 64 while summing.
#include "common/tensor.wgsl" NAME=query BINDING=0 DTYPE=${Q} ACCESS=read VEC4=1
#include "common/tensor.wgsl" NAME=keys BINDING=1 DTYPE=${KV} ACCESS=read VEC4=1
#include "common/tensor.wgsl" NAME=values BINDING=2 DTYPE=${KV} ACCESS=read VEC4=1
#include "common/tensor.wgsl" NAME=out BINDING=3 DTYPE=${Q} ACCESS=read_write VEC4=1
#if MASK
#include "common/tensor.wgsl" NAME=mask BINDING=4 DTYPE=${MASK} ACCESS=read
#endif
#include "attention/params.wgsl"
@group(0) @binding(5) var<uniform> p: Params;
#include "attention/score.wgsl"

const QUADS: u32 = ${DIM}u / 4u;
const DEPTH: u32 = 16u;
const KEYS: u32 = 32u;
var<workgroup> tile_q: array<vec4<f32>, DEPTH * 16u>; // [depth][rows / 4]
var<workgroup> tile_k: array<vec2<f32>, DEPTH * 16u>; // [depth][keys / 2]
var<workgroup> tile_w: array<vec4<f32>, KEYS * 16u>; // [keys][rows / 4]

fn write_row(batch: u32, head: u32, row: u32, d: u32, v: vec4<f32>, total: f32) {
  if (row < p.rows && d < QUADS) {
    let at = (batch * p.q_strides.x + row * p.q_strides.y + head * p.q_strides.z) / 4u + d;
    // Where no key is seen this is 0 / 0, as in PyTorch; the compiler may not know.
    out_put(at, select(v / total, vec4<f32>(bitcast<f32>(0x7fc00000u)), total == 0.0));
  }
}

fn four_scores(products: vec4<f32>, batch: u32, head: u32, row: u32, key: u32) -> vec4<f32> {
  let last = p.rows - 1u;
  return vec4<f32>(masked_score(products.x, batch, head, min(row, last), key),
                   masked_score(products.y, batch, head, min(row + 1u, last), key),
                   masked_score(products.z, batch, head, min(row + 2u, last), key),
                   masked_score(products.w, batch, head, min(row + 3u, last), key));
}

fn four_weights(s: vec4<f32>, peak: vec4<f32>) -> vec4<f32> {
  return vec4<f32>(weight_of(s.x, peak.x), weight_of(s.y, peak.y), weight_of(s.z, peak.z), weight_of(s.w, peak.w));
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let tx = local % 16u;
  let ty = local / 16u;
  let head = workgroup.y;
  let batch = workgroup.z;
  let row_0 = workgroup.x * 64u + ty * 4u;
#if CAUSAL
  let end = min(p.start + (workgroup.x + 1u) * 64u, p.length);
#else
  let end = p.length;
#endif
  let load_row = min(workgroup.x * 64u + local % 64u, p.rows - 1u);
  let q_at = (batch * p.q_strides.x + load_row * p.q_strides.y + head * p.q_strides.z) / 4u;
  let k_base = (batch * p.k_strides.x + (head / p.share) * p.k_strides.z) / 4u;
  let k_pitch = p.k_strides.y / 4u;
  var peak = vec4<f32>(infinite_below());
  var sum = vec4<f32>(0.0);
#include "attention/tiled_column.wgsl" C=0 STEP=declare
#if COLUMNS != 1
#include "attention/tiled_column.wgsl" C=1 STEP=declare
#endif
#if COLUMNS == 4
#include "attention/tiled_column.wgsl" C=2 STEP=declare
#include "attention/tiled_column.wgsl" C=3 STEP=declare
#endif

  for (var key_0 = 0u; key_0 < end; key_0 += KEYS) {
    var products_a = vec4<f32>(0.0);
    var products_b = vec4<f32>(0.0);
    for (var d0 = 0u; d0 < QUADS; d0 += DEPTH / 4u) {
      workgroupBarrier();
      {
        let row = local % 64u;
        let depth = local / 64u;
        var x = vec4<f32>(0.0);
        if (d0 + depth < QUADS) { x = query_quad(q_at + d0 + depth); }
        for (var j = 0u; j < 4u; j++) { tile_q[(depth * 4u + j) * 16u + row / 4u][row % 4u] = x[j]; }
      }
      if (local < 128u) {
        let key = local % 32u;
        let depth = local / 32u;
        var x = vec4<f32>(0.0);
        if (d0 + depth < QUADS) { x = keys_quad(k_base + min(key_0 + key, p.length - 1u) * k_pitch + d0 + depth); }
        for (var j = 0u; j < 4u; j++) { tile_k[(depth * 4u + j) * 16u + key / 2u][key % 2u] = x[j]; }
      }
      workgroupBarrier();
      for (var d = 0u; d < DEPTH; d++) {
        let x = tile_q[d * 16u + ty];
        let y = tile_k[d * 16u + tx];
        products_a += x * y.x;
        products_b += x * y.y;
      }
    }
    let scores_a = four_scores(products_a, batch, head, row_0, key_0 + tx * 2u);
    let scores_b = four_scores(products_b, batch, head, row_0, key_0 + tx * 2u + 1u);
    tile_w[tx * 32u + ty] = scores_a;
    tile_w[tx * 32u + 16u + ty] = scores_b;
    workgroupBarrier();
    var new_peak = peak;
    for (var key = 0u; key < KEYS; key++) { new_peak = max(new_peak, tile_w[key * 16u + ty]); }
    let shrink = four_weights(peak, new_peak);
    peak = new_peak;
    workgroupBarrier();
    tile_w[tx * 32u + ty] = four_weights(scores_a, peak);
    tile_w[tx * 32u + 16u + ty] = four_weights(scores_b, peak);
    workgroupBarrier();
    sum *= shrink;
#include "attention/tiled_column.wgsl" C=0 STEP=scale
#if COLUMNS != 1
#include "attention/tiled_column.wgsl" C=1 STEP=scale
#endif
#if COLUMNS == 4
#include "attention/tiled_column.wgsl" C=2 STEP=scale
#include "attention/tiled_column.wgsl" C=3 STEP=scale
#endif
    for (var key = 0u; key < KEYS; key++) {
      let w = tile_w[key * 16u + ty];
      let at = k_base + min(key_0 + key, p.length - 1u) * k_pitch;
      sum += w;
#include "attention/tiled_column.wgsl" C=0 STEP=add
#if COLUMNS != 1
#include "attention/tiled_column.wgsl" C=1 STEP=add
#endif
#if COLUMNS == 4
#include "attention/tiled_column.wgsl" C=2 STEP=add
#include "attention/tiled_column.wgsl" C=3 STEP=add
#endif
    }
  }
#include "attention/tiled_column.wgsl" C=0 STEP=write
#if COLUMNS != 1
#include "attention/tiled_column.wgsl" C=1 STEP=write
#endif
#if COLUMNS == 4
#include "attention/tiled_column.wgsl" C=2 STEP=write
#include "attention/tiled_column.wgsl" C=3 STEP=write
#endif
}
