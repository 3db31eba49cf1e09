// Unary operators: out = OP(x), computed in VALUE (f32 or i32); alpha and beta are the operator's scalars.
#include "common/grid.wgsl"
#include "common/special.wgsl"
#include "elementwise/math.wgsl"
#include "common/tensor.wgsl" NAME=x BINDING=0 DTYPE=${X} ACCESS=read
#include "common/tensor.wgsl" NAME=out BINDING=1 DTYPE=${OUT} ACCESS=read_write
struct Params {
  quads: u32,
#if VALUE == f32
  alpha: f32,
  beta: f32,
#else
  alpha: i32,
  beta: i32,
#endif
}
@group(0) @binding(2) var<uniform> p: Params;

alias value_t = ${VALUE};

fn operate(a: value_t) -> ${RESULT} {
#if VALUE == f32
  // Comparisons are false for NaN, but min, max and clamp may drop it.
  if (is_nan(a)) {
#if OP == logical_not
    return 0;
#else
    return a;
#endif
  }
#endif
#if OP == abs
  return abs(a);
#elif OP == neg
  return -a;
#elif OP == exp
  return exact_exp(a);
#elif OP == log
  return exact_log(a);
#elif OP == log10
  return exact_log10(a);
#elif OP == log1p
  return exact_log1p(a);
#elif OP == sqrt
  return exact_sqrt(a);
#elif OP == rsqrt
  return exact_rsqrt(a);
#elif OP == round
  return round(a);
#elif OP == sin
  return exact_sin(a);
#elif OP == cos
  return exact_cos(a);
#elif OP == tan
  return exact_tan(a);
#elif OP == tanh
  return exact_tanh(a);
#elif OP == sigmoid
  return exact_sigmoid(a);
#elif OP == gelu
  // Minus infinity times zero is NaN, as in PyTorch.
  return 0.5 * a * (1.0 + exact_erf(a * 0.70710678));
#elif OP == gelu_tanh
  return 0.5 * a * (1.0 + exact_tanh(0.79788456 * (a + 0.044715 * a * a * a)));
#elif OP == relu
  return max(a, 0);
#elif OP == clamp
  return min(max(a, p.alpha), p.beta);
#elif OP == hardswish
  return a * min(max(a + 3.0, 0.0), 6.0) / 6.0;
#elif OP == hardsigmoid
  return min(max(a + 3.0, 0.0), 6.0) / 6.0;
#elif OP == hardshrink
  return select(a, 0.0, a >= -p.alpha && a <= p.alpha);
#elif OP == leaky_relu
  return select(a * p.alpha, a, a > 0.0);
#elif OP == logical_not
  return select(0, 1, a == 0);
#elif OP == bitwise_not
#if X == bool
  return 1 - a;
#else
  return ~a;
#endif
#endif
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q >= p.quads) { return; }
  let a = x_quad(q);
  var result: vec4<${RESULT}>;
  for (var k = 0u; k < 4u; k++) { result[k] = operate(value_t(a[k])); }
  out_put(q, vec4<out_t>(result));
}
