// Adds the partial sums of a product that several workgroups shared, and finishes the values.
#include "common/grid.wgsl"
struct Params {
  quads: u32,
  count: u32,
  splits: u32,
  m: u32,
  n: u32,
  period: u32,
  alpha: f32,
  beta: f32,
  low: f32,
  high: f32,
  bias_strides: vec4<u32>,
}
@group(0) @binding(5) var<uniform> p: Params;
@group(0) @binding(0) var<storage, read> partial: array<f32>;
#include "matmul/store.wgsl"

fn element(flat: u32) -> f32 {
  let i = min(flat, p.count - 1u);
  let plane = p.m * p.n;
  let z = i / plane;
  let place = i - z * plane;
  let m = place / p.n;
  // Sums lie product by product, split by split.
  var sum = 0.0;
  var at = z * p.splits * plane + place;
  for (var s = 0u; s < p.splits; s++) {
    sum += partial[at];
    at += plane;
  }
  return finish(z, m, place - m * p.n, i, sum);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q >= p.quads) { return; }
  let i = q * 4u;
  out_put(q, vec4<f32>(element(i), element(i + 1u), element(i + 2u), element(i + 3u)));
}
