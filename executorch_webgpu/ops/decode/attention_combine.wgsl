// Joins the splits of a decoding step's attention: a workgroup for each head, SLICES invocations for each quad.
@group(0) @binding(0) var<storage, read> partial: array<vec4<f32>>;
#include "common/tensor.wgsl" NAME=out BINDING=1 DTYPE=${T} ACCESS=read_write VEC4=1
struct Params {
  splits: u32,
  max_splits: u32,
}
@group(0) @binding(2) var<uniform> p: Params;

const QUADS: u32 = ${QUADS}u;
const SLICES: u32 = ${SLICES}u;
var<workgroup> sums: array<vec4<f32>, QUADS * SLICES>;
var<workgroup> statistics: array<vec2<f32>, QUADS * SLICES>;

@compute @workgroup_size(QUADS * SLICES)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let quad = thread % QUADS;
  let first = workgroup.x * p.max_splits;
  var largest = bitcast<f32>(0xff800000u);
  var total = 0.0;
  var sum = vec4<f32>(0.0);
  for (var s = thread / QUADS; s < p.splits; s += SLICES) {
    let entry = (first + s) * (QUADS + 1u);
    let statistic = partial[entry + QUADS].xy;
    let next = max(largest, statistic.x);
    let old = exp(largest - next);
    let fresh = exp(statistic.x - next);
    sum = sum * old + partial[entry + quad] * fresh;
    total = total * old + statistic.y * fresh;
    largest = next;
  }
  sums[thread] = sum;
  statistics[thread] = vec2<f32>(largest, total);
  workgroupBarrier();
  if (thread >= QUADS) { return; }
  var highest = largest;
  for (var r = 1u; r < SLICES; r++) { highest = max(highest, statistics[r * QUADS + quad].x); }
  var whole = vec4<f32>(0.0);
  var weight = 0.0;
  for (var r = 0u; r < SLICES; r++) {
    let factor = exp(statistics[r * QUADS + quad].x - highest);
    whole += sums[r * QUADS + quad] * factor;
    weight += statistics[r * QUADS + quad].y * factor;
  }
  out_put(workgroup.x * QUADS + quad, whole / weight);
}
