// One AdamW step in place; COPIES writes the results into outputs of their own as well. One invocation a quad.
#include "common/grid.wgsl"
#include "common/tensor.wgsl" NAME=param BINDING=0 DTYPE=${X} ACCESS=read_write
#include "common/tensor.wgsl" NAME=m BINDING=1 DTYPE=${X} ACCESS=read_write
#include "common/tensor.wgsl" NAME=v BINDING=2 DTYPE=${X} ACCESS=read_write
#include "common/tensor.wgsl" NAME=grad BINDING=3 DTYPE=${X} ACCESS=read
#if COPIES
#include "common/tensor.wgsl" NAME=param_out BINDING=4 DTYPE=${X} ACCESS=read_write
#include "common/tensor.wgsl" NAME=m_out BINDING=5 DTYPE=${X} ACCESS=read_write
#include "common/tensor.wgsl" NAME=v_out BINDING=6 DTYPE=${X} ACCESS=read_write
#endif
struct Params {
  quads: u32,
  lr: f32,
  beta1: f32,
  beta2: f32,
  rest1: f32,
  rest2: f32,
  eps: f32,
  keep: f32,
  correction1: f32,
  correction2: f32,
}
@group(0) @binding(7) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let q = flat_id(workgroup, groups, local, 64u);
  if (q >= p.quads) { return; }
  let g = grad_quad(q);
  let new_m = m_quad(q) * p.beta1 + g * p.rest1;
  let new_v = v_quad(q) * p.beta2 + g * g * p.rest2;
  let root = sqrt(new_v / p.correction2) + vec4<f32>(p.eps);
  let new_param = param_quad(q) * p.keep - p.lr * (new_m / p.correction1) / root;
  m_put(q, new_m);
  v_put(q, new_v);
  param_put(q, new_param);
#if COPIES
  m_out_put(q, new_m);
  v_out_put(q, new_v);
  param_out_put(q, new_param);
#endif
}
