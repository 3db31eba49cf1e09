// Sorts the candidates that have weight into their bins, (key, id) each; the order within a bin is open.
#include "common/tensor.wgsl" NAME=logits BINDING=0 DTYPE=${T} ACCESS=read
@group(0) @binding(1) var<storage, read> bins: array<u32>;
@group(0) @binding(2) var<storage, read_write> tally: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> candidates: array<vec2<u32>>;
struct Params {
  first: u32,
  count: u32,
  slice: u32,
}
@group(0) @binding(4) var<uniform> p: Params;
#include "choice/weights.wgsl"

var<workgroup> sums: array<u32, 256>;
var<workgroup> places: array<u32, 1024>;  // where this slice's candidates of a bin begin
var<workgroup> mine: array<atomic<u32>, 1024>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  for (var i = thread; i < 1024u; i += 256u) { atomicStore(&mine[i], 0u); }
  workgroupBarrier();
  let begin = workgroup.x * p.slice + thread;
  let end = min((workgroup.x + 1u) * p.slice, p.count);
  for (var i = begin; i < end; i += 256u) { atomicAdd(&mine[bins[i]], 1u); }
  var counts: vec4<u32>;
  for (var j = 0u; j < 4u; j++) { counts[j] = atomicLoad(&tally[(thread * 4u + j) * 4u]); }
  sums[thread] = counts.x + counts.y + counts.z + counts.w;
  for (var step = 1u; step < 256u; step = step * 2u) {
    workgroupBarrier();
    let left = select(0u, sums[max(thread, step) - step], thread >= step);
    workgroupBarrier();
    sums[thread] += left;
  }
  workgroupBarrier();
  var place = select(0u, sums[max(thread, 1u) - 1u], thread > 0u);
  for (var j = 0u; j < 4u; j++) {
    let bin = thread * 4u + j;
    let count = atomicExchange(&mine[bin], 0u);
    if (count > 0u && bin < REST) { places[bin] = place + atomicAdd(&tally[CURSORS + bin], count); }
    place += counts[j];
  }
  workgroupBarrier();
  for (var i = begin; i < end; i += 256u) {
    let bin = bins[i];
    if (bin < REST) {
      candidates[places[bin] + atomicAdd(&mine[bin], 1u)] = vec2<u32>(key_of(logits_load(p.first + i)), i);
    }
  }
}
