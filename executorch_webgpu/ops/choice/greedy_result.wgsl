// The most likely token over all slices: written into the next step's input, and with its log-probability as result
// (token, log-probability bits, whether a logit was NaN, 0).
@group(0) @binding(0) var<storage, read> partial: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> token: array<i32>;
@group(0) @binding(2) var<storage, read_write> result: array<vec4<u32>>;
struct Params {
  slices: u32,
  count: u32,
}
@group(0) @binding(3) var<uniform> p: Params;
#include "choice/merge.wgsl"
#include "common/special.wgsl"

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) thread: u32) {
  var best = Candidate(lowest(), 0xffffffffu, 0.0, 0u);
  for (var i = thread; i < p.slices; i += 256u) {
    let entry = partial[i];
    best = merge(best, Candidate(bitcast<f32>(entry.x), entry.y, bitcast<f32>(entry.z), entry.w));
  }
  best = merge_workgroup(best, thread);
  if (thread == 0u) {
    // Among NaN alone no id was found.
    let id = min(best.id, p.count - 1u);
    token[0] = bitcast<i32>(id);
    let logprob = select(-log(best.sum), 0.0, is_inf(best.value));
    result[0] = vec4<u32>(id, bitcast<u32>(logprob), best.nan, 0u);
  }
}
