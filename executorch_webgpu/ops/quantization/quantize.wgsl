// q = clamp(round(x / scale) + zero, low, high), halves to even; one invocation makes four elements.
// FROM params: one scale (inverted) and zero point as parameters; tensor: one of each in tensors; blocks: one a block.
// INSIDE adds the zero point before rounding. NaN becomes 0.
#include "common/grid.wgsl"
#include "common/special.wgsl"
#include "common/tensor.wgsl" NAME=x BINDING=0 DTYPE=${X} ACCESS=read
#include "common/tensor.wgsl" NAME=out BINDING=1 DTYPE=${OUT} ACCESS=read_write
#if FROM != params
#include "common/division.wgsl"
#include "common/tensor.wgsl" NAME=scales BINDING=2 DTYPE=${S} ACCESS=read
#endif
#if ZEROS
#include "common/tensor.wgsl" NAME=zeros BINDING=3 DTYPE=${ZEROS} ACCESS=read
#endif
struct Params {
  count: u32,
  low: f32,
  high: f32,
#if FROM == params
  inverse: f32,
  zero: f32,
#elif FROM == blocks
  rank: u32,
  dims: array<vec4<u32>, 2>,
  block: array<vec4<u32>, 2>,
  strides: array<vec4<u32>, 2>,
#endif
}
@group(0) @binding(4) var<uniform> p: Params;
#if FROM == blocks
#include "quantization/blocks.wgsl"
#endif

fn value(i: u32) -> f32 {
  let x = f32(x_load(i));
#if FROM == params
  let inverse = p.inverse;
  let zero = p.zero;
#else
#if FROM == blocks
  let at = block_of(i);
#else
  let at = 0u;
#endif
  let inverse = divided(1.0, scales_load(at));
#if ZEROS
  let zero = f32(zeros_load(at));
#else
  let zero = 0.0;
#endif
#endif
#if INSIDE
  let q = round(x * inverse + zero);
#else
  let q = round(x * inverse) + zero;
#endif
  return select(clamp(q, p.low, p.high), 0.0, is_nan(x));
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q * 4u >= p.count) { return; }
  var v: vec4<f32>;
  for (var k = 0u; k < 4u; k++) { v[k] = value(min(q * 4u + k, p.count - 1u)); }
  out_put(q, vec4<out_t>(v));
}
