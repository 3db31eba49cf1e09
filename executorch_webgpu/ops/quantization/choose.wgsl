// The scale and zero point of every block of x, from its least and greatest value and 0: a workgroup makes four blocks
// one after the other, so that it writes whole words whatever the dtypes.
// MODE asymmetric, symmetric, no_clipping: as torchao names them; token: as XNNPACK nudges the zero point.
#include "common/grid.wgsl"
#include "common/special.wgsl"
#include "common/division.wgsl"
#include "common/tensor.wgsl" NAME=x BINDING=0 DTYPE=${X} ACCESS=read
#include "common/tensor.wgsl" NAME=scales BINDING=1 DTYPE=${S} ACCESS=read_write
#include "common/tensor.wgsl" NAME=zeros BINDING=2 DTYPE=${Z} ACCESS=read_write
struct Params {
  blocks: u32,
  block_size: u32,
  rank: u32,
  low: f32,
  high: f32,
  middle: f32,
  eps: f32,
  counts: array<vec4<u32>, 2>,
  block: array<vec4<u32>, 2>,
  strides: array<vec4<u32>, 2>,
}
@group(0) @binding(3) var<uniform> p: Params;

var<workgroup> lows: array<f32, 64>;
var<workgroup> highs: array<f32, 64>;

fn less(a: f32, b: f32) -> f32 {
  if (is_nan(a)) { return a; }
  if (is_nan(b)) { return b; }
  return min(a, b);
}

fn greater(a: f32, b: f32) -> f32 {
  if (is_nan(a)) { return a; }
  if (is_nan(b)) { return b; }
  return max(a, b);
}

// Where element e of block b lies in x.
fn place(b: u32, e: u32) -> u32 {
#if CONTIGUOUS
  return b * p.block_size + e;
#else
  var block_rest = b;
  var rest = e;
  var at = 0u;
  for (var k = 0u; k < p.rank; k++) {
    let d = 7u - k;
    let size = p.block[d >> 2u][d & 3u];
    let count = p.counts[d >> 2u][d & 3u];
    at += ((block_rest % count) * size + rest % size) * p.strides[d >> 2u][d & 3u];
    block_rest = block_rest / count;
    rest = rest / size;
  }
  return at;
#endif
}

struct Chosen { scale: f32, zero: f32 }

fn choose(low: f32, high: f32) -> Chosen {
#if MODE == symmetric
  return Chosen(greater(divided(greater(-low, high), (p.high - p.low) / 2.0), p.eps), p.middle);
#elif MODE == no_clipping
  return Chosen(greater(greater(divided(low, p.low), divided(high, p.high)), p.eps), p.middle);
#else
  let scale = greater(divided(high - low, p.high - p.low), p.eps);
#if MODE == token
  let bottom = divided(low, scale);
  let top = divided(high, scale);
  let zero = select(p.high - top, p.low - bottom, (p.low + bottom) + (p.high + top) > 0.0);
  return Chosen(scale, round(clamp(zero, p.low, p.high)));
#else
  return Chosen(scale, clamp(p.low - round(divided(low, scale)), p.low, p.high));
#endif
#endif
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = workgroup.y * groups.x + workgroup.x;
  var scale = vec4<f32>(0.0);
  var zero = vec4<f32>(0.0);
  for (var k = 0u; k < 4u; k++) {
    let b = min(q * 4u + k, p.blocks - 1u);
    var low = 0.0;
    var high = 0.0;
    for (var e = local; e < p.block_size; e += 64u) {
      let v = x_load(place(b, e));
      low = less(low, v);
      high = greater(high, v);
    }
    lows[local] = low;
    highs[local] = high;
    workgroupBarrier();
    for (var half = 32u; half > 0u; half = half / 2u) {
      if (local < half) {
        lows[local] = less(lows[local], lows[local + half]);
        highs[local] = greater(highs[local], highs[local + half]);
      }
      workgroupBarrier();
    }
    let chosen = choose(lows[0], highs[0]);
    scale[k] = chosen.scale;
    zero[k] = chosen.zero;
    workgroupBarrier();
  }
  if (local == 0u && q * 4u < p.blocks) {
    scales_put(q, scale);
    zeros_put(q, vec4<zeros_t>(zero));
  }
}
