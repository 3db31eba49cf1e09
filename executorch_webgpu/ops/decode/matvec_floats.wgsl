// The one-token product with float arithmetic: the nibbles become floats. x goes through workgroup memory in slabs of
// LANES chunks, padded so that the lanes' reads do not collide.
#include "decode/matvec_operands.wgsl"
#include "common/nibbles.wgsl"
var<workgroup> slab: array<vec4<f32>, LANES * 9u>;

// A lane's 32 values of x, in registers: read once for all rows.
struct Chunk { x0: vec4<f32>, x1: vec4<f32>, x2: vec4<f32>, x3: vec4<f32>,
               x4: vec4<f32>, x5: vec4<f32>, x6: vec4<f32>, x7: vec4<f32> }

fn row_dot(w: vec4<u32>, c: Chunk) -> f32 {
  return dot(nibbles_low(w.x), c.x0) + dot(nibbles_high(w.x), c.x1)
       + dot(nibbles_low(w.y), c.x2) + dot(nibbles_high(w.y), c.x3)
       + dot(nibbles_low(w.z), c.x4) + dot(nibbles_high(w.z), c.x5)
       + dot(nibbles_low(w.w), c.x6) + dot(nibbles_high(w.w), c.x7);
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32
#if SUBGROUP
        , @builtin(subgroup_invocation_id) sub_lane: u32
#endif
) {
#include "decode/matvec_rows.wgsl"
  let at = lane * 9u;
  for (var begin = 0u; begin < CHUNKS; begin += LANES) {
    let chunk = min(begin + lane, CHUNKS - 1u);
    let wa0 = weight[base_a.x + chunk];
    let wa1 = weight[base_a.y + chunk];
    let wa2 = weight[base_a.z + chunk];
    let wa3 = weight[base_a.w + chunk];
    let group = chunk / CHUNKS_PER_GROUP;
    let sa = scale[scale_a + group];
#if ROWS == 8
    let wb0 = weight[base_b.x + chunk];
    let wb1 = weight[base_b.y + chunk];
    let wb2 = weight[base_b.z + chunk];
    let wb3 = weight[base_b.w + chunk];
    let sb = scale[scale_b + group];
#endif
    workgroupBarrier();
    for (var i = thread; i < LANES * 8u; i += THREADS) {
      let quad = begin * 8u + i;
      var value = vec4<f32>(0.0);
      if (quad < CHUNKS * 8u) {
        value = x_quad(quad);
#if NORM
        squares += dot(value, value);
        value *= gamma_quad(quad);
#endif
      }
      slab[i + i / 8u] = value;
    }
    workgroupBarrier();
    // Lanes past the last column meet zeros in the slab.
    let c = Chunk(slab[at], slab[at + 1u], slab[at + 2u], slab[at + 3u],
                  slab[at + 4u], slab[at + 5u], slab[at + 6u], slab[at + 7u]);
    let sum = ((c.x0 + c.x1) + (c.x2 + c.x3)) + ((c.x4 + c.x5) + (c.x6 + c.x7));
    let offset = vec4<f32>(24.0 * dot(vec4<f32>(1.0), sum));
    acc_a += sa * (vec4<f32>(row_dot(wa0, c), row_dot(wa1, c), row_dot(wa2, c), row_dot(wa3, c)) - offset);
#if ROWS == 8
    acc_b += sb * (vec4<f32>(row_dot(wb0, c), row_dot(wb1, c), row_dot(wb2, c), row_dot(wb3, c)) - offset);
#endif
  }

#include "decode/matvec_finish.wgsl"
}
