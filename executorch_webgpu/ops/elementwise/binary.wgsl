// Binary arithmetic with broadcasting: out = x OP y (add and sub scale y by alpha).
#include "common/grid.wgsl"
#include "common/special.wgsl"
#include "common/broadcast.wgsl"
#include "common/tensor.wgsl" NAME=x BINDING=0 DTYPE=${X} ACCESS=read
#include "common/tensor.wgsl" NAME=y BINDING=1 DTYPE=${Y} ACCESS=read
#include "common/tensor.wgsl" NAME=out BINDING=2 DTYPE=${OUT} ACCESS=read_write
struct Params {
  quads: u32,
  count: u32,
  rank: u32,
  x_flat: u32,
  y_flat: u32,
  alpha: f32,
  alpha_int: i32,
  out_dims: array<vec4<u32>, 2>,
  x_strides: array<vec4<u32>, 2>,
  y_strides: array<vec4<u32>, 2>,
}
@group(0) @binding(3) var<uniform> p: Params;

alias value_t = ${VALUE};

fn combine(a: value_t, b: value_t) -> value_t {
#if OP == add
#if VALUE == f32
  return a + p.alpha * b;
#else
  return a + p.alpha_int * b;
#endif
#elif OP == sub
#if VALUE == f32
  return a - p.alpha * b;
#else
  return a - p.alpha_int * b;
#endif
#elif OP == mul
  return a * b;
#elif OP == minimum
#if VALUE == f32
  if (is_nan(a)) { return a; }
  if (is_nan(b)) { return b; }
#endif
  return min(a, b);
#endif
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q >= p.quads) { return; }
  var result: vec4<value_t>;
  if (p.x_flat != 0u && p.y_flat != 0u) {
    let a = x_quad(q);
    let b = y_quad(q);
    for (var k = 0u; k < 4u; k++) { result[k] = combine(value_t(a[k]), value_t(b[k])); }
  } else {
    for (var k = 0u; k < 4u; k++) {
      let i = min(q * 4u + k, p.count - 1u);
      let a = x_load(broadcast_index(i, p.out_dims, p.x_strides, p.rank));
      let b = y_load(broadcast_index(i, p.out_dims, p.y_strides, p.rank));
      result[k] = combine(value_t(a), value_t(b));
    }
  }
  out_put(q, vec4<out_t>(result));
}
