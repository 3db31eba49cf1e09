// Binary operators with broadcasting: out = OP(x, y), computed in VALUE (f32 or i32). Y may be the word scalar: then y is
// the parameter. add and sub scale y by alpha. Comparisons and logic answer 0 or 1.
#include "common/grid.wgsl"
#include "common/special.wgsl"
#include "common/broadcast.wgsl"
#include "elementwise/math.wgsl"
#include "elementwise/power.wgsl"
#include "common/tensor.wgsl" NAME=x BINDING=0 DTYPE=${X} ACCESS=read
#if Y == scalar
#include "common/tensor.wgsl" NAME=out BINDING=1 DTYPE=${OUT} ACCESS=read_write
#else
#include "common/tensor.wgsl" NAME=y BINDING=1 DTYPE=${Y} ACCESS=read
#include "common/tensor.wgsl" NAME=out BINDING=2 DTYPE=${OUT} ACCESS=read_write
#endif
struct Params {
  quads: u32,
  count: u32,
  rank: u32,
  whole_quads: u32,
  x_mode: u32,
#if Y != scalar
  y_mode: u32,
#endif
#if VALUE == f32
  alpha: f32,
  scalar: f32,
#else
  alpha: i32,
  scalar: i32,
#endif
  out_dims: array<vec4<u32>, 2>,
  x_strides: array<vec4<u32>, 2>,
#if Y != scalar
  y_strides: array<vec4<u32>, 2>,
#endif
}
#if Y == scalar
@group(0) @binding(2) var<uniform> p: Params;
#else
@group(0) @binding(3) var<uniform> p: Params;
#endif

alias value_t = ${VALUE};

#include "elementwise/operand.wgsl" NAME=x
#if Y != scalar
#include "elementwise/operand.wgsl" NAME=y
#endif

fn operate(a: value_t, b: value_t) -> ${RESULT} {
#if OP == add
  return a + p.alpha * b;
#elif OP == sub
  return a - p.alpha * b;
#elif OP == mul
  return a * b;
#elif OP == div
  return exact_divide(a, b);
#elif OP == div_trunc
#if VALUE == f32
  return trunc(exact_divide(a, b));
#else
  return a / select(b, 1, b == 0);
#endif
#elif OP == div_floor
#if VALUE == f32
  return floor_divide(a, b);
#else
  let divisor = select(b, 1, b == 0);
  let q = a / divisor;
  let r = a - q * divisor;
  return select(q, q - 1, r != 0 && (r ^ divisor) < 0);
#endif
#elif OP == pow
#if VALUE == f32
  return exact_pow(a, b);
#else
  return integer_pow(a, b);
#endif
#elif OP == minimum || OP == maximum
#if VALUE == f32
  if (is_nan(a)) { return a; }
  if (is_nan(b)) { return b; }
#endif
#if OP == minimum
  return min(a, b);
#else
  return max(a, b);
#endif
#elif OP == bitwise_and
  return a & b;
#elif OP == bitwise_or
  return a | b;
#elif OP == logical_and
  return select(0, 1, a != 0 && b != 0);
#elif OP == logical_or
  return select(0, 1, a != 0 || b != 0);
#else
#if VALUE == f32
  // NaN equals nothing and is not ordered.
  if (is_nan(a) || is_nan(b)) {
#if OP == ne
    return 1;
#else
    return 0;
#endif
  }
#endif
#if OP == eq
  return select(0, 1, a == b);
#elif OP == ne
  return select(0, 1, a != b);
#elif OP == lt
  return select(0, 1, a < b);
#elif OP == le
  return select(0, 1, a <= b);
#elif OP == gt
  return select(0, 1, a > b);
#elif OP == ge
  return select(0, 1, a >= b);
#endif
#endif
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q >= p.quads) { return; }
  let a = x_read(q);
#if Y == scalar
  let b = vec4<value_t>(p.scalar);
#else
  let b = y_read(q);
#endif
  var result: vec4<${RESULT}>;
  for (var k = 0u; k < 4u; k++) { result[k] = operate(a[k], b[k]); }
  out_put(q, vec4<out_t>(result));
}
