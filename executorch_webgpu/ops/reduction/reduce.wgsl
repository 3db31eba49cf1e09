// Reductions: out[o] = OP over the n elements that o keeps apart. With COOPERATIVE a workgroup of LANES invocations
// shares one output (PER of them one after the other), else one invocation makes PER outputs. PER is 4 where outputs are
// packed below a word. An output may be split: then `splits` workgroups take `chunk` elements each and write partial
// results, which a second dispatch reduces. sqdiff sums squared differences from center[o], sumexp exp(x - center[o]).
// FINISH: mean divides the sum by divisor, rstd makes 1 / sqrt(sum / divisor + eps) of it.
#include "common/grid.wgsl"
#include "common/special.wgsl"
#include "common/broadcast.wgsl"
#include "elementwise/math.wgsl"
#include "common/tensor.wgsl" NAME=x BINDING=0 DTYPE=${X} ACCESS=read
#if CENTER
#include "common/tensor.wgsl" NAME=center BINDING=1 DTYPE=float32 ACCESS=read
#include "common/tensor.wgsl" NAME=out BINDING=2 DTYPE=${OUT} ACCESS=read_write
#else
#include "common/tensor.wgsl" NAME=out BINDING=1 DTYPE=${OUT} ACCESS=read_write
#endif
struct Params {
  outputs: u32,
  n: u32,
  splits: u32,
  chunk: u32,
  divisor: f32,
  eps: f32,
  kept_rank: u32,
  reduced_rank: u32,
  kept_dims: array<vec4<u32>, 2>,
  kept_strides: array<vec4<u32>, 2>,
  reduced_dims: array<vec4<u32>, 2>,
  reduced_strides: array<vec4<u32>, 2>,
}
#if CENTER
@group(0) @binding(3) var<uniform> p: Params;
#else
@group(0) @binding(2) var<uniform> p: Params;
#endif

alias value_t = ${VALUE};

// The index matters to argmax and argmin only; NONE marks that nothing was seen.
struct Best { value: value_t, index: u32 }
const NONE = 0xffffffffu;
const LANES = ${LANES}u;
const PER = ${PER}u;

fn start() -> Best {
#if OP == amax && VALUE == f32
  return Best(-infinity(), NONE);
#elif OP == amin && VALUE == f32
  return Best(infinity(), NONE);
#elif OP == amax
  return Best(-2147483647 - 1, NONE);
#elif OP == amin
  return Best(2147483647, NONE);
#else
  return Best(value_t(0), NONE);
#endif
}

fn undefined_number(x: value_t) -> bool {
#if VALUE == f32
  return is_nan(x);
#else
  return false;
#endif
}

fn merge(a: Best, b: Best) -> Best {
#if OP == amax
  if (undefined_number(a.value)) { return a; }
  if (undefined_number(b.value)) { return b; }
  return Best(max(a.value, b.value), NONE);
#elif OP == amin
  if (undefined_number(a.value)) { return a; }
  if (undefined_number(b.value)) { return b; }
  return Best(min(a.value, b.value), NONE);
#elif OP == argmax || OP == argmin
  // NaN comes before all numbers; of equals the first one counts.
  if (b.index == NONE) { return a; }
  if (a.index == NONE) { return b; }
  let a_nan = undefined_number(a.value);
  let b_nan = undefined_number(b.value);
  if (a_nan != b_nan) {
    if (a_nan) { return a; }
    return b;
  }
  if (!a_nan && a.value != b.value) {
#if OP == argmax
    if (a.value > b.value) { return a; }
#else
    if (a.value < b.value) { return a; }
#endif
    return b;
  }
  if (a.index < b.index) { return a; }
  return b;
#elif OP == any
  return Best(a.value | b.value, NONE);
#else
  return Best(a.value + b.value, NONE);
#endif
}

fn element(i: u32, o: u32, j: u32) -> Best {
#if OP == any && X_FLOAT
  let v = x_load(i);
  return Best(select(0, 1, v != 0.0 || is_nan(v)), j);
#elif OP == any
  return Best(select(0, 1, x_load(i) != 0), j);
#elif OP == sqdiff
  let d = x_load(i) - center_load(o);
  return Best(d * d, j);
#elif OP == sumexp
  return Best(exact_exp(x_load(i) - center_load(o)), j);
#else
  return Best(value_t(x_load(i)), j);
#endif
}

// Elements first, first + step, ... below end, in blocks of 32: long sums keep nearly the accuracy of pairwise ones.
fn reduce_part(o: u32, first: u32, end: u32, step: u32) -> Best {
  let base = broadcast_index(o, p.kept_dims, p.kept_strides, p.kept_rank);
  let stride = p.reduced_strides[1].w;
  var total = start();
  var j = first;
  while (j < end) {
    var part = start();
    for (var k = 0u; k < 32u && j < end; k++) {
      var offset = j * stride;
      if (p.reduced_rank > 1u) { offset = broadcast_index(j, p.reduced_dims, p.reduced_strides, p.reduced_rank); }
      part = merge(part, element(base + offset, o, j));
      j += step;
    }
    total = merge(total, part);
  }
  return total;
}

fn finish(best: Best) -> out_t {
#if OP == argmax || OP == argmin
  return i32(best.index);
#elif FINISH
  // Over nothing a mean is 0 / 0; so is the variance of one value with one degree of freedom taken away.
  if (p.divisor <= 0.0) { return select(infinity(), not_a_number(), best.value == 0.0 || is_nan(best.value)); }
#if FINISH == rstd
  return exact_rsqrt(best.value / p.divisor + p.eps);
#else
  return best.value / p.divisor;
#endif
#else
  return out_t(best.value);
#endif
}

fn store(first: u32, results: vec4<out_t>) {
#if PER == 4
  out_put(first >> 2u, results);
#elif OUT == int64
  out[first] = vec2<i32>(results.x, results.x >> 31u);
#else
  out[first] = results.x;
#endif
}

#if COOPERATIVE
var<workgroup> values: array<value_t, LANES>;
var<workgroup> indices: array<u32, LANES>;

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let first = flat_id(workgroup, groups, 0u, 1u) * PER;
  var results: vec4<out_t>;
  for (var k = 0u; k < PER; k++) {
    let part = first + k;
    let o = part / p.splits;
    let begin = (part % p.splits) * p.chunk;
    var best = start();
    if (o < p.outputs) { best = reduce_part(o, begin + local, min(begin + p.chunk, p.n), LANES); }
    values[local] = best.value;
    indices[local] = best.index;
    workgroupBarrier();
    for (var width = LANES / 2u; width > 0u; width = width / 2u) {
      if (local < width) {
        let merged = merge(Best(values[local], indices[local]), Best(values[local + width], indices[local + width]));
        values[local] = merged.value;
        indices[local] = merged.index;
      }
      workgroupBarrier();
    }
    results[k] = finish(Best(values[0], indices[0]));
    workgroupBarrier();
  }
  if (local == 0u && first < p.outputs * p.splits) { store(first, results); }
}
#else
@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let first = flat_id(workgroup, groups, local, LANES) * PER;
  if (first >= p.outputs) { return; }
  var results: vec4<out_t>;
  for (var k = 0u; k < PER; k++) {
    let o = min(first + k, p.outputs - 1u);
    results[k] = finish(reduce_part(o, 0u, p.n, 1u));
  }
  store(first, results);
}
#endif
