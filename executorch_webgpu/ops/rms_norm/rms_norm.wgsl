// out = x / sqrt(mean(x^2) + eps) * weight over the last dim: one workgroup a row.
// WIDE reads whole quads, for widths that are multiples of four; else each invocation writes whole output quads of the
// flat tensor only where the type is float32 (a row may then begin inside a quad).
#include "common/tensor.wgsl" NAME=x BINDING=0 DTYPE=${X} ACCESS=read VEC4=${WIDE}
#include "common/tensor.wgsl" NAME=weight BINDING=1 DTYPE=${W} ACCESS=read VEC4=${WIDE}
#include "common/tensor.wgsl" NAME=out BINDING=2 DTYPE=${X} ACCESS=read_write VEC4=${WIDE}
struct Params {
  rows: u32,
  width: u32,
  eps: f32,
}
@group(0) @binding(3) var<uniform> p: Params;
#include "common/reduce.wgsl" T=f32

@compute @workgroup_size(${LANES})
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let row = min(workgroup.y * groups.x + workgroup.x, p.rows - 1u);
#if WIDE
  let quads = p.width / 4u;
  let first = row * quads;
  var squares = 0.0;
  for (var i = lane; i < quads; i += ${LANES}u) {
    let v = x_quad(first + i);
    squares += dot(v, v);
  }
  let factor = 1.0 / sqrt(total(squares, lane) / f32(p.width) + p.eps);
  for (var i = lane; i < quads; i += ${LANES}u) {
    out_put(first + i, x_quad(first + i) * factor * weight_quad(i));
  }
#else
  let first = row * p.width;
  var squares = 0.0;
  for (var i = lane; i < p.width; i += ${LANES}u) {
    let v = x_load(first + i);
    squares += v * v;
  }
  let factor = 1.0 / sqrt(total(squares, lane) / f32(p.width) + p.eps);
  for (var i = lane; i < p.width; i += ${LANES}u) {
    out[first + i] = x_load(first + i) * factor * weight_load(i);
  }
#endif
}
