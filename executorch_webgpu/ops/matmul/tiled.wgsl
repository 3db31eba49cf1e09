// A product by tiles of ROWS x COLUMNS. GROUPS groups of threads share a workgroup, each with its own slices of k,
// SLICE deep; their sums are added at the end. Every thread holds MICRO x MICRO values in registers and reads one slice
// ahead into registers, so that loads from memory overlap the arithmetic. Each thread loads LOADS vec4 of each operand.
#include "matmul/params.wgsl"
#include "matmul/load.wgsl"
#include "matmul/store.wgsl"

const ROWS4 = ${ROWS}u / 4u;
const COLUMNS4 = ${COLUMNS}u / 4u;
const SLICE = ${SLICE}u;
const SLICE4 = SLICE / 4u;
const GROUPS = ${GROUPS}u;
const ACROSS = ${COLUMNS}u / ${MICRO}u;
const THREADS = ACROSS * ${ROWS}u / ${MICRO}u;
const A_SIZE = SLICE * ROWS4;
const B_SIZE = SLICE * COLUMNS4;
// Where one load of all threads ends and the next begins: rows of `a`; columns of `b` if nk, else rows of it.
const A_STEP = THREADS / SLICE4;
#if B_LAYOUT == nk
const B_STEP = THREADS / SLICE4;
#else
const B_STEP = THREADS / COLUMNS4;
#endif

// Of each group: a slice of `a` as [k][m], then one of `b` as [k][n]. Later the sums of one group.
var<workgroup> tile: array<vec4<f32>, ${TILE}>;

// Writes k to k + 3 of column `at`: the operand was read along k and is kept by rows of k.
fn scatter(start: u32, pitch: u32, k: u32, at: u32, v: vec4<f32>) {
  let i = start + k * pitch + at / 4u;
  tile[i][at % 4u] = v.x;
  tile[i + pitch][at % 4u] = v.y;
  tile[i + 2u * pitch][at % 4u] = v.z;
  tile[i + 3u * pitch][at % 4u] = v.w;
}

@compute @workgroup_size(${INVOCATIONS})
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let group = local / THREADS;
  let thread = local % THREADS;
  let z = workgroup.z / p.splits;
  let split = workgroup.z % p.splits;
  let m0 = workgroup.y * ${ROWS}u;
  let n0 = workgroup.x * ${COLUMNS}u;
  let a_tile = group * (A_SIZE + B_SIZE);
  let b_tile = a_tile + A_SIZE;

  // What this thread loads: 4 neighbours in k of a row of `a`, and of `b` 4 neighbours in n (or in k, if nk).
  let a_k = thread % SLICE4 * 4u;
  let a_m = thread / SLICE4;
  let a_row = z % p.period * p.a_batch + (m0 + a_m) * p.k;
  let b_start = z * p.b_batch;
#if B_LAYOUT == nk
  let b_k = thread % SLICE4 * 4u;
  let b_n = thread / SLICE4;
  let b_row = b_start + (n0 + b_n) * p.k;
#else
  let b_k = thread / COLUMNS4;
  let b_n = thread % COLUMNS4;
#endif
#if B_LAYOUT == image
  let place = corners(n0 + b_n * 4u);
#endif

  let k0 = split * p.per_split;
  let limit = max(k0, min(k0 + p.per_split, p.k));
  let steps = (limit - k0 + SLICE * GROUPS - 1u) / (SLICE * GROUPS);
  var k = k0 + group * SLICE;

  var next_a0 = load_a(a_row, m0 + a_m, k + a_k, limit);
#if LOADS == 2
  var next_a1 = load_a(a_row + A_STEP * p.k, m0 + a_m + A_STEP, k + a_k, limit);
#endif
#if B_LAYOUT == nk
  var next_b0 = load_b_column(b_row, n0 + b_n, k + b_k, limit);
#if LOADS == 2
  var next_b1 = load_b_column(b_row + B_STEP * p.k, n0 + b_n + B_STEP, k + b_k, limit);
#endif
#elif B_LAYOUT == image
  var next_b0 = load_b_patch(b_start, place, k + b_k, limit);
#if LOADS == 2
  var next_b1 = load_b_patch(b_start, place, k + b_k + B_STEP, limit);
#endif
#else
  var next_b0 = load_b_row(b_start, n0 + b_n * 4u, k + b_k, limit);
#if LOADS == 2
  var next_b1 = load_b_row(b_start, n0 + b_n * 4u, k + b_k + B_STEP, limit);
#endif
#endif

  let ty = thread / ACROSS;
  let tx = thread % ACROSS;
  var c00 = vec4<f32>(); var c10 = vec4<f32>(); var c20 = vec4<f32>(); var c30 = vec4<f32>();
#if MICRO == 8
  var c01 = vec4<f32>(); var c11 = vec4<f32>(); var c21 = vec4<f32>(); var c31 = vec4<f32>();
  var c40 = vec4<f32>(); var c50 = vec4<f32>(); var c60 = vec4<f32>(); var c70 = vec4<f32>();
  var c41 = vec4<f32>(); var c51 = vec4<f32>(); var c61 = vec4<f32>(); var c71 = vec4<f32>();
#endif

  for (var step = 0u; step < steps; step++) {
    workgroupBarrier();
    scatter(a_tile, ROWS4, a_k, a_m, next_a0);
#if LOADS == 2
    scatter(a_tile, ROWS4, a_k, a_m + A_STEP, next_a1);
#endif
#if B_LAYOUT == nk
    scatter(b_tile, COLUMNS4, b_k, b_n, next_b0);
#if LOADS == 2
    scatter(b_tile, COLUMNS4, b_k, b_n + B_STEP, next_b1);
#endif
#else
    tile[b_tile + b_k * COLUMNS4 + b_n] = next_b0;
#if LOADS == 2
    tile[b_tile + (b_k + B_STEP) * COLUMNS4 + b_n] = next_b1;
#endif
#endif
    workgroupBarrier();

    k += SLICE * GROUPS;
    next_a0 = load_a(a_row, m0 + a_m, k + a_k, limit);
#if LOADS == 2
    next_a1 = load_a(a_row + A_STEP * p.k, m0 + a_m + A_STEP, k + a_k, limit);
#endif
#if B_LAYOUT == nk
    next_b0 = load_b_column(b_row, n0 + b_n, k + b_k, limit);
#if LOADS == 2
    next_b1 = load_b_column(b_row + B_STEP * p.k, n0 + b_n + B_STEP, k + b_k, limit);
#endif
#elif B_LAYOUT == image
    next_b0 = load_b_patch(b_start, place, k + b_k, limit);
#if LOADS == 2
    next_b1 = load_b_patch(b_start, place, k + b_k + B_STEP, limit);
#endif
#else
    next_b0 = load_b_row(b_start, n0 + b_n * 4u, k + b_k, limit);
#if LOADS == 2
    next_b1 = load_b_row(b_start, n0 + b_n * 4u, k + b_k + B_STEP, limit);
#endif
#endif

    for (var i = 0u; i < SLICE; i++) {
      let a0 = tile[a_tile + i * ROWS4 + ty];
      let b0 = tile[b_tile + i * COLUMNS4 + tx];
      c00 += a0.x * b0; c10 += a0.y * b0; c20 += a0.z * b0; c30 += a0.w * b0;
#if MICRO == 8
      let a1 = tile[a_tile + i * ROWS4 + ROWS4 / 2u + ty];
      let b1 = tile[b_tile + i * COLUMNS4 + COLUMNS4 / 2u + tx];
      c01 += a0.x * b1; c11 += a0.y * b1; c21 += a0.z * b1; c31 += a0.w * b1;
      c40 += a1.x * b0; c50 += a1.y * b0; c60 += a1.z * b0; c70 += a1.w * b0;
      c41 += a1.x * b1; c51 += a1.y * b1; c61 += a1.z * b1; c71 += a1.w * b1;
#endif
    }
  }

#if GROUPS != 1
  // The groups hand their sums to the first, one after the other.
  for (var g = 1u; g < GROUPS; g++) {
    workgroupBarrier();
    if (group == g) {
      tile[thread] = c00; tile[THREADS + thread] = c10; tile[2u * THREADS + thread] = c20; tile[3u * THREADS + thread] = c30;
    }
    workgroupBarrier();
    if (group == 0u) {
      c00 += tile[thread]; c10 += tile[THREADS + thread]; c20 += tile[2u * THREADS + thread]; c30 += tile[3u * THREADS + thread];
    }
  }
#endif

  if (group == 0u) {
    let m = m0 + ty * 4u;
    let n = n0 + tx * 4u;
    store(workgroup.z, m, n, c00); store(workgroup.z, m + 1u, n, c10);
    store(workgroup.z, m + 2u, n, c20); store(workgroup.z, m + 3u, n, c30);
#if MICRO == 8
    let mh = m + ROWS4 * 2u;
    let nh = n + COLUMNS4 * 2u;
    store(workgroup.z, m, nh, c01); store(workgroup.z, m + 1u, nh, c11);
    store(workgroup.z, m + 2u, nh, c21); store(workgroup.z, m + 3u, nh, c31);
    store(workgroup.z, mh, n, c40); store(workgroup.z, mh + 1u, n, c50);
    store(workgroup.z, mh + 2u, n, c60); store(workgroup.z, mh + 3u, n, c70);
    store(workgroup.z, mh, nh, c41); store(workgroup.z, mh + 1u, nh, c51);
    store(workgroup.z, mh + 2u, nh, c61); store(workgroup.z, mh + 3u, nh, c71);
#endif
  }
}
