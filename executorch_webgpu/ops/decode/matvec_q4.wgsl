// y = W x for 4-bit weights with a scale per group, one token: eight rows share every load of x.
// A lane takes 32 columns at a time: one vec4<u32> of each row, eight quads of x. Optional parts:
//   NORM      x is RMS-normalised first; the factor is the same for every column, so it is applied to the sums
//   EPILOGUE  add: y + residual; swiglu: silu(gate row) * up row, the eight rows being four of each
//   PARTS     up to three matrices that share x, one after the other in the weights' storage
#include "common/tensor.wgsl" NAME=x BINDING=0 DTYPE=${T} ACCESS=read VEC4=1
@group(0) @binding(1) var<storage, read> weight: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> scale: array<f32>;
#include "common/tensor.wgsl" NAME=out0 BINDING=3 DTYPE=${T} ACCESS=read_write VEC4=1
#if PARTS == 3
#include "common/tensor.wgsl" NAME=out1 BINDING=4 DTYPE=${T} ACCESS=read_write VEC4=1
#include "common/tensor.wgsl" NAME=out2 BINDING=5 DTYPE=${T} ACCESS=read_write VEC4=1
#endif
#if EPILOGUE == add
#include "common/tensor.wgsl" NAME=residual BINDING=4 DTYPE=${T} ACCESS=read VEC4=1
#endif
#if NORM
#include "common/tensor.wgsl" NAME=gamma BINDING=6 DTYPE=${T} ACCESS=read VEC4=1
#endif
struct Params {
  chunks: u32,
  chunks_per_group: u32,
  eps: f32,
  inverse_k: f32,
  rows: vec4<u32>,
  strides: vec4<u32>,
  first_group: vec4<u32>,
  weight_base: vec4<u32>,
  scale_base: vec4<u32>,
}
@group(0) @binding(7) var<uniform> p: Params;
#include "common/nibbles.wgsl"

const LANES: u32 = ${LANES}u;
#if SUBGROUP
const PARTIALS: u32 = LANES / ${SUBGROUP}u;
#else
const PARTIALS: u32 = LANES;
#endif
var<workgroup> partial_a: array<vec4<f32>, PARTIALS>;
var<workgroup> partial_b: array<vec4<f32>, PARTIALS>;
var<workgroup> partial_c: array<f32, PARTIALS>;

struct Chunk { x0: vec4<f32>, x1: vec4<f32>, x2: vec4<f32>, x3: vec4<f32>,
               x4: vec4<f32>, x5: vec4<f32>, x6: vec4<f32>, x7: vec4<f32> }

fn row_dot(w: vec4<u32>, c: Chunk) -> f32 {
  return dot(nibbles_low(w.x), c.x0) + dot(nibbles_high(w.x), c.x1)
       + dot(nibbles_low(w.y), c.x2) + dot(nibbles_high(w.y), c.x3)
       + dot(nibbles_low(w.z), c.x4) + dot(nibbles_high(w.z), c.x5)
       + dot(nibbles_low(w.w), c.x6) + dot(nibbles_high(w.w), c.x7);
}

#if NORM
fn square(v: vec4<f32>) -> f32 { return dot(v, v); }
#endif

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32
#if SUBGROUP
        , @builtin(subgroup_invocation_id) sub_lane: u32
#endif
) {
  // Which matrix, and the first of this workgroup's rows in it.
  var part = 0u;
#if PARTS == 3
  if (workgroup.x >= p.first_group.z) { part = 2u; } else if (workgroup.x >= p.first_group.y) { part = 1u; }
#endif
#if EPILOGUE == swiglu
  let first = workgroup.x * 4u;
  let last = p.rows.x - 1u;
  let row_a = min(vec4<u32>(first, first + 1u, first + 2u, first + 3u), vec4<u32>(last));
  let row_b = row_a;
  let base_a = row_a * p.chunks + p.weight_base.x;
  let base_b = row_b * p.chunks + p.weight_base.y;
  let scale_a = p.scale_base.x + row_a;
  let scale_b = p.scale_base.y + row_b;
#else
  let first = (workgroup.x - p.first_group[part]) * 8u;
  let last = p.rows[part] - 1u;
  let row_a = min(vec4<u32>(first, first + 1u, first + 2u, first + 3u), vec4<u32>(last));
  let row_b = min(vec4<u32>(first + 4u, first + 5u, first + 6u, first + 7u), vec4<u32>(last));
  let base_a = row_a * p.chunks + p.weight_base[part];
  let base_b = row_b * p.chunks + p.weight_base[part];
  let scale_a = p.scale_base[part] + row_a;
  let scale_b = p.scale_base[part] + row_b;
#endif
  let stride = p.strides[part];

  var acc_a = vec4<f32>(0.0);
  var acc_b = vec4<f32>(0.0);
  var squares = 0.0;
  for (var chunk = lane; chunk < p.chunks; chunk += LANES) {
    let wa0 = weight[base_a.x + chunk];
    let wa1 = weight[base_a.y + chunk];
    let wa2 = weight[base_a.z + chunk];
    let wa3 = weight[base_a.w + chunk];
    let wb0 = weight[base_b.x + chunk];
    let wb1 = weight[base_b.y + chunk];
    let wb2 = weight[base_b.z + chunk];
    let wb3 = weight[base_b.w + chunk];
    let q = chunk * 8u;
    var c: Chunk;
    c.x0 = x_quad(q); c.x1 = x_quad(q + 1u); c.x2 = x_quad(q + 2u); c.x3 = x_quad(q + 3u);
    c.x4 = x_quad(q + 4u); c.x5 = x_quad(q + 5u); c.x6 = x_quad(q + 6u); c.x7 = x_quad(q + 7u);
    let group = (chunk / p.chunks_per_group) * stride;
    let sa = vec4<f32>(scale[scale_a.x + group], scale[scale_a.y + group], scale[scale_a.z + group], scale[scale_a.w + group]);
    let sb = vec4<f32>(scale[scale_b.x + group], scale[scale_b.y + group], scale[scale_b.z + group], scale[scale_b.w + group]);
#if NORM
    squares += square(c.x0) + square(c.x1) + square(c.x2) + square(c.x3)
             + square(c.x4) + square(c.x5) + square(c.x6) + square(c.x7);
    c.x0 *= gamma_quad(q); c.x1 *= gamma_quad(q + 1u); c.x2 *= gamma_quad(q + 2u); c.x3 *= gamma_quad(q + 3u);
    c.x4 *= gamma_quad(q + 4u); c.x5 *= gamma_quad(q + 5u); c.x6 *= gamma_quad(q + 6u); c.x7 *= gamma_quad(q + 7u);
#endif
    let offset = 24.0 * dot(vec4<f32>(1.0), ((c.x0 + c.x1) + (c.x2 + c.x3)) + ((c.x4 + c.x5) + (c.x6 + c.x7)));
    acc_a += sa * (vec4<f32>(row_dot(wa0, c), row_dot(wa1, c), row_dot(wa2, c), row_dot(wa3, c)) - vec4<f32>(offset));
    acc_b += sb * (vec4<f32>(row_dot(wb0, c), row_dot(wb1, c), row_dot(wb2, c), row_dot(wb3, c)) - vec4<f32>(offset));
  }

#if SUBGROUP
  acc_a = subgroupAdd(acc_a);
  acc_b = subgroupAdd(acc_b);
#if NORM
  squares = subgroupAdd(squares);
#endif
  if (sub_lane == 0u) {
    let slot = lane / ${SUBGROUP}u;
    partial_a[slot] = acc_a;
    partial_b[slot] = acc_b;
    partial_c[slot] = squares;
  }
  workgroupBarrier();
  if (lane != 0u) { return; }
  for (var k = 1u; k < PARTIALS; k++) {
    acc_a += partial_a[k];
    acc_b += partial_b[k];
    squares += partial_c[k];
  }
#else
  partial_a[lane] = acc_a;
  partial_b[lane] = acc_b;
  partial_c[lane] = squares;
  for (var half = LANES / 2u; half > 0u; half = half / 2u) {
    workgroupBarrier();
    if (lane < half) {
      partial_a[lane] += partial_a[lane + half];
      partial_b[lane] += partial_b[lane + half];
      partial_c[lane] += partial_c[lane + half];
    }
  }
  if (lane != 0u) { return; }
  acc_a = partial_a[0];
  acc_b = partial_b[0];
  squares = partial_c[0];
#endif
#if NORM
  let factor = inverseSqrt(squares * p.inverse_k + p.eps);
  acc_a *= factor;
  acc_b *= factor;
#endif
  let quad = first / 4u;
#if EPILOGUE == swiglu
  out0_put(quad, acc_a / (vec4<f32>(1.0) + exp(-acc_a)) * acc_b);
#else
  let both = first + 4u < p.rows[part];
#if EPILOGUE == add
  out0_put(quad, acc_a + residual_quad(quad));
  if (both) { out0_put(quad + 1u, acc_b + residual_quad(quad + 1u)); }
#elif PARTS == 3
  if (part == 0u) {
    out0_put(quad, acc_a);
    if (both) { out0_put(quad + 1u, acc_b); }
  } else if (part == 1u) {
    out1_put(quad, acc_a);
    if (both) { out1_put(quad + 1u, acc_b); }
  } else {
    out2_put(quad, acc_a);
    if (both) { out2_put(quad + 1u, acc_b); }
  }
#else
  out0_put(quad, acc_a);
  if (both) { out0_put(quad + 1u, acc_b); }
#endif
#endif
}
