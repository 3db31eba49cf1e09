// out = x W^T + bias for few rows of x: a workgroup makes ROWS (4 or 8) outputs of one row, so that they share every
// load of x. A lane takes 32 columns at a time: one vec4<u32> of packed weights a row, one group, eight quads of x.
#include "common/tensor.wgsl" NAME=x BINDING=0 DTYPE=${X} ACCESS=read VEC4=1
@group(0) @binding(1) var<storage, read> weight: array<vec4<u32>>;
#include "common/tensor.wgsl" NAME=scales BINDING=2 DTYPE=${S} ACCESS=read VEC4=${WIDE_SCALES}
#include "common/tensor.wgsl" NAME=out BINDING=3 DTYPE=${X} ACCESS=read_write VEC4=${WIDE}
#if BIAS
#include "common/tensor.wgsl" NAME=bias BINDING=4 DTYPE=${BIAS} ACCESS=read
#endif
struct Params {
  outputs: u32,
  chunks: u32,
  chunks_per_group: u32,
  scale_stride: u32,
}
@group(0) @binding(5) var<uniform> p: Params;
#include "common/nibbles.wgsl"
#include "common/reduce.wgsl" T=vec4<f32>
#include "linear4/nibble_order.wgsl"

struct Chunk { x0: vec4<f32>, x1: vec4<f32>, x2: vec4<f32>, x3: vec4<f32>,
               x4: vec4<f32>, x5: vec4<f32>, x6: vec4<f32>, x7: vec4<f32> }

fn row_dot(n: u32, chunk: u32, c: Chunk) -> f32 {
  let w = ordered(weight[min(n, p.outputs - 1u) * p.chunks + chunk]);
  return dot(nibbles_low(w.x), c.x0) + dot(nibbles_high(w.x), c.x1)
       + dot(nibbles_low(w.y), c.x2) + dot(nibbles_high(w.y), c.x3)
       + dot(nibbles_low(w.z), c.x4) + dot(nibbles_high(w.z), c.x5)
       + dot(nibbles_low(w.w), c.x6) + dot(nibbles_high(w.w), c.x7);
}

fn four_rows(n: u32, chunk: u32, c: Chunk) -> vec4<f32> {
  return vec4<f32>(row_dot(n, chunk, c), row_dot(n + 1u, chunk, c), row_dot(n + 2u, chunk, c),
                   row_dot(n + 3u, chunk, c));
}

fn four_scales(group: u32, n: u32) -> vec4<f32> {
#if WIDE_SCALES
  return scales_quad((group * p.scale_stride + min(n, p.scale_stride - 4u)) / 4u);
#else
  let row = group * p.scale_stride;
  let last = p.outputs - 1u;
  return vec4<f32>(scales_load(row + min(n, last)), scales_load(row + min(n + 1u, last)),
                   scales_load(row + min(n + 2u, last)), scales_load(row + min(n + 3u, last)));
#endif
}

fn write_four(row: u32, n: u32, sums: vec4<f32>) {
  var v = sums;
#if BIAS
  for (var k = 0u; k < 4u; k++) { v[k] += bias_load(min(n + k, p.outputs - 1u)); }
#endif
#if WIDE
  if (n < p.outputs) { out_put((row * p.outputs + n) / 4u, v); }
#else
  for (var k = 0u; k < 4u; k++) {
    if (n + k < p.outputs) { out[row * p.outputs + n + k] = v[k]; }
  }
#endif
}

@compute @workgroup_size(${LANES})
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let n = (workgroup.y * groups.x + workgroup.x) * ${ROWS}u;
  let row = workgroup.z;
  var a = vec4<f32>(0.0);
#if ROWS == 8
  var b = vec4<f32>(0.0);
#endif
  for (var chunk = lane; chunk < p.chunks; chunk += ${LANES}u) {
    let q = (row * p.chunks + chunk) * 8u;
    let c = Chunk(x_quad(q), x_quad(q + 1u), x_quad(q + 2u), x_quad(q + 3u),
                  x_quad(q + 4u), x_quad(q + 5u), x_quad(q + 6u), x_quad(q + 7u));
    let offset = vec4<f32>(24.0 * dot((c.x0 + c.x1) + (c.x2 + c.x3) + ((c.x4 + c.x5) + (c.x6 + c.x7)), vec4<f32>(1.0)));
    let group = chunk / p.chunks_per_group;
    a += four_scales(group, n) * (four_rows(n, chunk, c) - offset);
#if ROWS == 8
    b += four_scales(group, n + 4u) * (four_rows(n + 4u, chunk, c) - offset);
#endif
  }
  let sum_a = total(a, lane);
#if ROWS == 8
  let sum_b = total(b, lane);
#endif
  if (lane == 0u) {
    write_four(row, n, sum_a);
#if ROWS == 8
    write_four(row, n + 4u, sum_b);
#endif
  }
}
