// Attention for head dims that are not whole quads or too long for the other kernels: one invocation makes four
// consecutive elements of the output, each over all its keys.
#include "common/grid.wgsl"
#include "common/tensor.wgsl" NAME=query BINDING=0 DTYPE=${Q} ACCESS=read
#include "common/tensor.wgsl" NAME=keys BINDING=1 DTYPE=${KV} ACCESS=read
#include "common/tensor.wgsl" NAME=values BINDING=2 DTYPE=${KV} ACCESS=read
#include "common/tensor.wgsl" NAME=out BINDING=3 DTYPE=${Q} ACCESS=read_write
#if MASK
#include "common/tensor.wgsl" NAME=mask BINDING=4 DTYPE=${MASK} ACCESS=read
#endif
#include "attention/params.wgsl"
@group(0) @binding(5) var<uniform> p: Params;
#include "attention/score.wgsl"

// The element at i of the flat output; out has the dims [batch, row, head, dim] where ROWS_FIRST, else
// [batch, head, row, dim].
fn element(i: u32) -> f32 {
  let d = i % p.dim;
#if ROWS_FIRST
  let head = (i / p.dim) % p.heads;
  let row = (i / (p.dim * p.heads)) % p.rows;
#else
  let row = (i / p.dim) % p.rows;
  let head = (i / (p.dim * p.rows)) % p.heads;
#endif
  let batch = i / (p.dim * p.heads * p.rows);
  let q_at = batch * p.q_strides.x + row * p.q_strides.y + head * p.q_strides.z;
  let k_base = batch * p.k_strides.x + (head / p.share) * p.k_strides.z;
#if CAUSAL
  let end = min(p.start + row + 1u, p.length);
#else
  let end = p.length;
#endif
  var peak = infinite_below();
  var total = 0.0;
  var sum = 0.0;
  for (var key = 0u; key < end; key++) {
    let k_at = k_base + key * p.k_strides.y;
    var product = 0.0;
    for (var j = 0u; j < p.dim; j++) { product += query_load(q_at + j) * keys_load(k_at + j); }
    let s = masked_score(product, batch, head, row, key);
    let new_peak = max(peak, s);
    let shrink = weight_of(peak, new_peak);
    let w = weight_of(s, new_peak);
    peak = new_peak;
    total = total * shrink + w;
    sum = sum * shrink + w * values_load(k_at + d);
  }
  return select(sum / total, bitcast<f32>(0x7fc00000u), total == 0.0);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q4 = flat_id(workgroup, groups, local, 64u);
  if (q4 * 4u >= p.count) { return; }
  var result: vec4<f32>;
  for (var j = 0u; j < 4u; j++) { result[j] = element(min(q4 * 4u + j, p.count - 1u)); }
  out_put(q4, result);
}
