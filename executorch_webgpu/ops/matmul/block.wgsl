// A product without workgroup memory: each invocation holds 4 rows by 4 columns in registers. For devices whose
// workgroup memory is ordinary memory (software adapters).
#include "matmul/params.wgsl"
#include "matmul/load.wgsl"
#include "matmul/store.wgsl"

@compute @workgroup_size(8, 8)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) {
  let z = workgroup.z;
  let n = (workgroup.x * 8u + local.x) * 4u;
  let m = (workgroup.y * 8u + local.y) * 4u;
  if (m >= p.m || n >= p.n) { return; }
  let row = z % p.period * p.a_batch + m * p.k;
  let start = z * p.b_batch;
#if B_LAYOUT == image
  let place = corners(n);
#endif
  var c0 = vec4<f32>();
  var c1 = vec4<f32>();
  var c2 = vec4<f32>();
  var c3 = vec4<f32>();
  for (var k = 0u; k < p.k; k += 4u) {
    let a0 = load_a(row, m, k, p.k);
    let a1 = load_a(row + p.k, m + 1u, k, p.k);
    let a2 = load_a(row + 2u * p.k, m + 2u, k, p.k);
    let a3 = load_a(row + 3u * p.k, m + 3u, k, p.k);
#if B_LAYOUT == nk
    let b = transpose(mat4x4<f32>(load_b_column(start + n * p.k, n, k, p.k),
                                  load_b_column(start + (n + 1u) * p.k, n + 1u, k, p.k),
                                  load_b_column(start + (n + 2u) * p.k, n + 2u, k, p.k),
                                  load_b_column(start + (n + 3u) * p.k, n + 3u, k, p.k)));
#elif B_LAYOUT == image
    let b = mat4x4<f32>(load_b_patch(start, place, k, p.k), load_b_patch(start, place, k + 1u, p.k),
                        load_b_patch(start, place, k + 2u, p.k), load_b_patch(start, place, k + 3u, p.k));
#else
    let b = mat4x4<f32>(load_b_row(start, n, k, p.k), load_b_row(start, n, k + 1u, p.k),
                        load_b_row(start, n, k + 2u, p.k), load_b_row(start, n, k + 3u, p.k));
#endif
    c0 += b * a0;
    c1 += b * a1;
    c2 += b * a2;
    c3 += b * a3;
  }
  store(z, m, n, c0);
  store(z, m + 1u, n, c1);
  store(z, m + 2u, n, c2);
  store(z, m + 3u, n, c3);
}
