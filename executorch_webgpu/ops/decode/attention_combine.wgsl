// Joins the splits of a decoding step's attention: one invocation for each quad of each head.
@group(0) @binding(0) var<storage, read> partial: array<vec4<f32>>;
#include "common/tensor.wgsl" NAME=out BINDING=1 DTYPE=${T} ACCESS=read_write VEC4=1
struct Params {
  quads: u32,
  head_quads: u32,
  splits: u32,
  max_splits: u32,
}
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= p.quads) { return; }
  let head = id.x / p.head_quads;
  let quad = id.x % p.head_quads;
  let stride = p.head_quads + 1u;
  let first = head * p.max_splits * stride;
  var largest = partial[first + p.head_quads].x;
  for (var s = 1u; s < p.splits; s++) { largest = max(largest, partial[first + s * stride + p.head_quads].x); }
  var sum = vec4<f32>(0.0);
  var total = 0.0;
  for (var s = 0u; s < p.splits; s++) {
    let entry = first + s * stride;
    let weight = exp(partial[entry + p.head_quads].x - largest);
    sum += weight * partial[entry + quad];
    total += weight * partial[entry + p.head_quads].y;
  }
  out_put(id.x, sum / total);
}
