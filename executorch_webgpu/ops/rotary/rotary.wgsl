// Turns pairs of channels of q and k by the angles of their positions: one invocation makes four consecutive elements.
// FORM pairs: channels (2i, 2i + 1), tables of D/2 columns. FORM halves: channels (i, i + R/2) of the first R, tables of
// R columns. Tables have a row a position, or a row a position and head where table_heads is not 0.
#include "common/grid.wgsl"
#include "common/tensor.wgsl" NAME=query BINDING=0 DTYPE=${X} ACCESS=read
#include "common/tensor.wgsl" NAME=keys BINDING=1 DTYPE=${X} ACCESS=read
#include "common/tensor.wgsl" NAME=cosine BINDING=2 DTYPE=${TABLE} ACCESS=read
#include "common/tensor.wgsl" NAME=sine BINDING=3 DTYPE=${TABLE} ACCESS=read
#include "common/tensor.wgsl" NAME=query_out BINDING=4 DTYPE=${X} ACCESS=read_write
#include "common/tensor.wgsl" NAME=keys_out BINDING=5 DTYPE=${X} ACCESS=read_write
struct Params {
  query_count: u32,
  keys_count: u32,
  query_heads: u32,
  key_heads: u32,
  dim: u32,
  columns: u32,
  rows: u32,
  start: u32,
  table_heads: u32,
}
@group(0) @binding(6) var<uniform> p: Params;

struct Turn { here: u32, there: u32, cosine: f32, sine: f32 }

// For element i of a tensor of so many heads: the two elements that make it, and the factors of each.
fn turn(i: u32, heads: u32) -> Turn {
  let d = i % p.dim;
  let head = (i / p.dim) % heads;
  let position = p.start + (i / (p.dim * heads)) % p.rows;
  var row = position;
  if (p.table_heads != 0u) { row = position * p.table_heads + head; }
#if FORM == pairs
  let at = row * p.columns + d / 2u;
  let odd = (d & 1u) == 1u;
  let s = sine_load(at);
  return Turn(i, i ^ 1u, cosine_load(at), select(-s, s, odd));
#else
  if (d >= p.columns) { return Turn(i, i, 1.0, 0.0); }
  let half = p.columns / 2u;
  let at = row * p.columns + d;
  let s = sine_load(at);
  let first = d < half;
  return Turn(i, select(i - half, i + half, first), cosine_load(at), select(s, -s, first));
#endif
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  let query_quads = (p.query_count + 3u) / 4u;
  var result: vec4<f32>;
  if (q < query_quads) {
    for (var k = 0u; k < 4u; k++) {
      let t = turn(min(q * 4u + k, p.query_count - 1u), p.query_heads);
      result[k] = query_load(t.here) * t.cosine + query_load(t.there) * t.sine;
    }
    query_out_put(q, result);
  } else if ((q - query_quads) * 4u < p.keys_count) {
    for (var k = 0u; k < 4u; k++) {
      let t = turn(min((q - query_quads) * 4u + k, p.keys_count - 1u), p.key_heads);
      result[k] = keys_load(t.here) * t.cosine + keys_load(t.there) * t.sine;
    }
    keys_out_put(q - query_quads, result);
  }
}
