// What becomes of a product's values: out = clamp(alpha * value + beta * bias + residual, low, high), or with PARTIAL
// bare sums for finish.wgsl. store(z, m, n, v) takes four neighbours of a row; those past the end are dropped.
// With N_VEC, n is a multiple of 4 and rows are written as whole vec4; without it the output is float32.
#include "common/special.wgsl"
#if N_VEC && OUT == float32
@group(0) @binding(2) var<storage, read_write> out: array<vec4<f32>>;
fn out_put(q: u32, v: vec4<f32>) { out[q] = v; }
#else
#include "common/tensor.wgsl" NAME=out BINDING=2 DTYPE=${OUT} ACCESS=read_write
#endif
#if BIAS
#include "matmul/operand.wgsl" NAME=bias BINDING=3 DTYPE=${BIAS}
#endif
#if RESIDUAL
#include "matmul/operand.wgsl" NAME=residual BINDING=4 DTYPE=${RESIDUAL}
#endif

#if !PARTIAL
fn bound(v: f32) -> f32 {
  if (is_nan(v)) { return v; }
  return clamp(v, p.low, p.high);
}

// The output of row m and column n in product z, which is element i.
fn finish(z: u32, m: u32, n: u32, i: u32, value: f32) -> f32 {
  var v = value * p.alpha;
#if BIAS
  v += p.beta * bias_at(z % p.period * p.bias_strides.x + m * p.bias_strides.y + n * p.bias_strides.z);
#endif
#if RESIDUAL
  v += residual_at(i);
#endif
#if CLAMP
  v = bound(v);
#endif
  return v;
}
#endif

fn store(z: u32, m: u32, n: u32, value: vec4<f32>) {
  if (m >= p.m || n >= p.n) { return; }
  let i = (z * p.m + m) * p.n + n;
#if PARTIAL
  let v = value;
#else
  // A tail past the row's end is computed from the row's last element and dropped.
  let last = p.n - 1u - n;
  let v = vec4<f32>(finish(z, m, n, i, value.x), finish(z, m, n + min(1u, last), i + min(1u, last), value.y),
                    finish(z, m, n + min(2u, last), i + min(2u, last), value.z),
                    finish(z, m, n + min(3u, last), i + min(3u, last), value.w));
#endif
#if N_VEC
  out_put(i >> 2u, v);
#else
  let count = min(p.n - n, 4u);
  out[i] = v.x;
  if (count > 1u) { out[i + 1u] = v.y; }
  if (count > 2u) { out[i + 2u] = v.z; }
  if (count > 3u) { out[i + 3u] = v.w; }
#endif
}
