// A product without workgroup memory: each invocation holds 8 rows by 8 columns in registers, so that few loads serve
// much arithmetic. For devices whose workgroup memory is ordinary memory (software adapters).
#include "matmul/params.wgsl"
#include "matmul/load.wgsl"
#include "matmul/store.wgsl"

// Four rows of k by four columns from n of `b`, as columns of k.
#if B_LAYOUT == nk
fn square(row: u32, n: u32, k: u32) -> mat4x4<f32> {
  return transpose(mat4x4<f32>(load_b_column(row, n, k, p.k), load_b_column(row + p.k, n + 1u, k, p.k),
                               load_b_column(row + 2u * p.k, n + 2u, k, p.k),
                               load_b_column(row + 3u * p.k, n + 3u, k, p.k)));
}
#elif B_LAYOUT == image
fn square(start: u32, c: Corners, k: u32) -> mat4x4<f32> {
  return mat4x4<f32>(load_b_patch(start, c, k, p.k), load_b_patch(start, c, k + 1u, p.k),
                     load_b_patch(start, c, k + 2u, p.k), load_b_patch(start, c, k + 3u, p.k));
}
#else
fn square(start: u32, n: u32, k: u32) -> mat4x4<f32> {
  return mat4x4<f32>(load_b_row(start, n, k, p.k), load_b_row(start, n, k + 1u, p.k),
                     load_b_row(start, n, k + 2u, p.k), load_b_row(start, n, k + 3u, p.k));
}
#endif

@compute @workgroup_size(8, 8)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) {
  let z = workgroup.z;
  let n = (workgroup.x * 8u + local.x) * 8u;
  let m = (workgroup.y * 8u + local.y) * 8u;
  if (m >= p.m || n >= p.n) { return; }
  let row = z % p.period * p.a_batch + m * p.k;
  let start = z * p.b_batch;
#if B_LAYOUT == image
  let left = corners(n);
  let right = corners(n + 4u);
#endif
  var l0 = vec4<f32>(); var l1 = vec4<f32>(); var l2 = vec4<f32>(); var l3 = vec4<f32>();
  var l4 = vec4<f32>(); var l5 = vec4<f32>(); var l6 = vec4<f32>(); var l7 = vec4<f32>();
  var r0 = vec4<f32>(); var r1 = vec4<f32>(); var r2 = vec4<f32>(); var r3 = vec4<f32>();
  var r4 = vec4<f32>(); var r5 = vec4<f32>(); var r6 = vec4<f32>(); var r7 = vec4<f32>();
  for (var k = 0u; k < p.k; k += 4u) {
#if B_LAYOUT == nk
    let a = square(start + n * p.k, n, k);
    let b = square(start + (n + 4u) * p.k, n + 4u, k);
#elif B_LAYOUT == image
    let a = square(start, left, k);
    let b = square(start, right, k);
#else
    let a = square(start, n, k);
    let b = square(start, n + 4u, k);
#endif
    let w0 = load_a(row, m, k, p.k);
    let w1 = load_a(row + p.k, m + 1u, k, p.k);
    let w2 = load_a(row + 2u * p.k, m + 2u, k, p.k);
    let w3 = load_a(row + 3u * p.k, m + 3u, k, p.k);
    l0 += a * w0; r0 += b * w0; l1 += a * w1; r1 += b * w1;
    l2 += a * w2; r2 += b * w2; l3 += a * w3; r3 += b * w3;
    let w4 = load_a(row + 4u * p.k, m + 4u, k, p.k);
    let w5 = load_a(row + 5u * p.k, m + 5u, k, p.k);
    let w6 = load_a(row + 6u * p.k, m + 6u, k, p.k);
    let w7 = load_a(row + 7u * p.k, m + 7u, k, p.k);
    l4 += a * w4; r4 += b * w4; l5 += a * w5; r5 += b * w5;
    l6 += a * w6; r6 += b * w6; l7 += a * w7; r7 += b * w7;
  }
  store(z, m, n, l0); store(z, m, n + 4u, r0); store(z, m + 1u, n, l1); store(z, m + 1u, n + 4u, r1);
  store(z, m + 2u, n, l2); store(z, m + 2u, n + 4u, r2); store(z, m + 3u, n, l3); store(z, m + 3u, n + 4u, r3);
  store(z, m + 4u, n, l4); store(z, m + 4u, n + 4u, r4); store(z, m + 5u, n, l5); store(z, m + 5u, n + 4u, r5);
  store(z, m + 6u, n, l6); store(z, m + 6u, n + 4u, r6); store(z, m + 7u, n, l7); store(z, m + 7u, n + 4u, r7);
}
