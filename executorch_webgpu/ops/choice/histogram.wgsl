// Counts and weighs the candidates of each bin; notes the bin of every candidate.
#include "common/tensor.wgsl" NAME=logits BINDING=0 DTYPE=${T} ACCESS=read
@group(0) @binding(1) var<storage, read> partial: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> tally: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> bins: array<u32>;
struct Params {
  first: u32,
  count: u32,
  slice: u32,
  slices: u32,
  temperature: f32,
  min_p: f32,
}
@group(0) @binding(4) var<uniform> p: Params;
#include "choice/weights.wgsl"

var<workgroup> highest: array<f32, 256>;
var<workgroup> found: array<atomic<u32>, 3072>;  // count, low and high units of each bin
var<workgroup> above: atomic<u32>;

fn largest_of_slices(thread: u32) -> f32 {
  var largest = bitcast<f32>(0xff800000u);
  for (var i = thread; i < p.slices; i += 256u) { largest = max(largest, bitcast<f32>(partial[i].x)); }
  highest[thread] = largest;
  for (var half = 128u; half > 0u; half = half / 2u) {
    workgroupBarrier();
    if (thread < half) { highest[thread] = max(highest[thread], highest[thread + half]); }
  }
  workgroupBarrier();
  return highest[0];
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  for (var i = thread; i < 3072u; i += 256u) { atomicStore(&found[i], 0u); }
  if (thread == 0u) { atomicStore(&above, 0u); }
  // The barriers of this call part the zeroing from the counting.
  let largest = largest_of_slices(thread);
  let end = min((workgroup.x + 1u) * p.slice, p.count);
  for (var i = workgroup.x * p.slice + thread; i < end; i += 256u) {
    let x = exponent(logits_load(p.first + i), largest, p.temperature);
    let bin = bin_of(x);
    bins[i] = bin;
    let weight = weight_of(x);
    if (bin < REST) {
      let mass = units(weight);
      atomicAdd(&found[bin * 3u], 1u);
      atomicAdd(&found[bin * 3u + 1u], mass.x);
      atomicAdd(&found[bin * 3u + 2u], mass.y);
    }
    if (p.min_p > 0.0 && weight >= p.min_p) { atomicAdd(&above, 1u); }
  }
  workgroupBarrier();
  for (var bin = thread; bin < REST; bin += 256u) {
    let count = atomicLoad(&found[bin * 3u]);
    if (count > 0u) {
      let low = atomicLoad(&found[bin * 3u + 1u]);
      let high = atomicLoad(&found[bin * 3u + 2u]) + (low >> 20u);
      atomicAdd(&tally[bin * 4u], count);
      atomicAdd(&tally[bin * 4u + 1u], low & 0xfffffu);
      atomicAdd(&tally[bin * 4u + 2u], high & 0xfffffu);
      atomicAdd(&tally[bin * 4u + 3u], high >> 20u);
    }
  }
  if (thread == 0u) { atomicAdd(&tally[ABOVE], atomicLoad(&above)); }
}
