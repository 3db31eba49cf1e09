// The largest logit of each slice of the vocabulary, its lowest id, and the sum of exponentials relative to it.
// CLEAR: also zeroes the counters that the draw fills later.
#include "common/special.wgsl"
#include "common/tensor.wgsl" NAME=logits BINDING=0 DTYPE=${T} ACCESS=read
@group(0) @binding(1) var<storage, read_write> partial: array<vec4<u32>>;
#if CLEAR
@group(0) @binding(2) var<storage, read_write> tally: array<u32>;
#endif
struct Params {
  first: u32,
  count: u32,
  slice: u32,
  counters: u32,
}
@group(0) @binding(3) var<uniform> p: Params;
#include "choice/merge.wgsl"

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {
#if CLEAR
  for (var i = workgroup.x * 256u + thread; i < p.counters; i += groups.x * 256u) { tally[i] = 0u; }
#endif
  var best = Candidate(lowest(), 0xffffffffu, 0.0, 0u);
  let end = min((workgroup.x + 1u) * p.slice, p.count);
  for (var i = workgroup.x * p.slice + thread; i < end; i += 256u) {
    let value = logits_load(p.first + i);
    best = merge(best, Candidate(value, i, 1.0, select(0u, 1u, is_nan(value))));
  }
  best = merge_workgroup(best, thread);
  if (thread == 0u) { partial[workgroup.x] = vec4<u32>(bitcast<u32>(best.value), best.id, bitcast<u32>(best.sum), best.nan); }
}
