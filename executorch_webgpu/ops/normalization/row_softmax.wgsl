// softmax or log_softmax of one contiguous row of n elements by one workgroup: maximum, sum of exponentials, result.
// Elements are written one by one in float32, by quads (n is a multiple of 4 then) in float16.
#include "common/grid.wgsl"
#include "common/special.wgsl"
#include "elementwise/math.wgsl"
#include "common/tensor.wgsl" NAME=x BINDING=0 DTYPE=${X} ACCESS=read
#include "common/tensor.wgsl" NAME=out BINDING=1 DTYPE=${OUT} ACCESS=read_write
struct Params {
  rows: u32,
  n: u32,
}
@group(0) @binding(2) var<uniform> p: Params;

const LANES = ${LANES}u;
#include "normalization/row_sum.wgsl"

// NaN may be dropped here: the sum of exponentials brings it back.
fn row_max(value: f32, local: u32) -> f32 {
  row_partial[local] = value;
  workgroupBarrier();
  for (var width = LANES / 2u; width > 0u; width = width / 2u) {
    if (local < width) { row_partial[local] = max(row_partial[local], row_partial[local + width]); }
    workgroupBarrier();
  }
  let result = row_partial[0];
  workgroupBarrier();
  return result;
}

fn scaled(value: f32, top: f32, total: f32) -> f32 {
#if LOG
  return value - top - total;
#else
  return exact_exp(value - top) / total;
#endif
}

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let row = flat_id(workgroup, groups, 0u, 1u);
  // A row too many has no elements: it passes the barriers and writes nothing.
  let n = select(0u, p.n, row < p.rows);
  let base = row * p.n;
  var top = -infinity();
  for (var j = local; j < n; j += LANES) { top = max(top, x_load(base + j)); }
  top = row_max(top, local);
  var sum = 0.0;
  for (var j = local; j < n; j += LANES) { sum += exact_exp(x_load(base + j) - top); }
  var total = row_sum(sum, local);
#if LOG
  total = exact_log(total);
#endif
#if OUT == float32
  for (var j = local; j < n; j += LANES) { out[base + j] = scaled(x_load(base + j), top, total); }
#else
  for (var q = local; q < n / 4u; q += LANES) {
    let i = base / 4u + q;
    let a = x_quad(i);
    out_put(i, vec4<f32>(
      scaled(a.x, top, total), scaled(a.y, top, total), scaled(a.z, top, total), scaled(a.w, top, total)));
  }
#endif
}
