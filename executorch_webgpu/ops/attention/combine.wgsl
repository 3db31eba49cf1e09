// Attention of few query rows, second part: one workgroup a query row and head joins the parts that split.wgsl left.
@group(0) @binding(0) var<storage, read> partial: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> stats: array<vec2<f32>>;
#include "common/tensor.wgsl" NAME=out BINDING=2 DTYPE=${Q} ACCESS=read_write VEC4=1
#include "attention/params.wgsl"
@group(0) @binding(3) var<uniform> p: Params;
#include "attention/score.wgsl"

const QUADS: u32 = ${DIM}u / 4u;
const TEAMS: u32 = 64u / QUADS; // each team of QUADS invocations takes every TEAMS-th part
var<workgroup> sums: array<vec4<f32>, 64>;
var<workgroup> totals: array<f32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let key_heads = p.heads / p.share;
  let all_rows = p.rows * p.share;
  let slot = (workgroup.y * all_rows + workgroup.x) * p.most_splits;
  let team = local / QUADS;
  let d = local % QUADS;
  var peak = infinite_below();
  for (var i = 0u; i < p.splits; i++) { peak = max(peak, stats[slot + i].x); }
  var sum = vec4<f32>(0.0);
  var total = 0.0;
  if (team < TEAMS) {
    for (var i = team; i < p.splits; i += TEAMS) {
      let part = stats[slot + i];
      let factor = weight_of(part.x, peak);
      sum += factor * partial[(slot + i) * QUADS + d];
      total += factor * part.y;
    }
  }
  sums[local] = sum;
  totals[local] = total;
  workgroupBarrier();
  if (local < QUADS) {
    for (var t = 1u; t < TEAMS; t++) {
      sum += sums[t * QUADS + local];
      total += totals[t * QUADS + local];
    }
    let row = workgroup.x / p.share;
    let head = (workgroup.y % key_heads) * p.share + workgroup.x % p.share;
    let batch = workgroup.y / key_heads;
    let at = (batch * p.q_strides.x + row * p.q_strides.y + head * p.q_strides.z) / 4u + local;
    // Where no key is seen this is 0 / 0, as in PyTorch; the compiler may not know.
    out_put(at, select(sum / total, vec4<f32>(bitcast<f32>(0x7fc00000u)), total == 0.0));
  }
}
