  // The lanes' sums are joined; the first lane of a team writes.
#if SUBGROUP
  acc_a = subgroupAdd(acc_a);
  if (sub_lane == 0u) { partial_a[thread / ${SUBGROUP}u] = acc_a; }
#if ROWS == 8
  acc_b = subgroupAdd(acc_b);
  if (sub_lane == 0u) { partial_b[thread / ${SUBGROUP}u] = acc_b; }
#endif
#if NORM
  squares = subgroupAdd(squares);
  if (sub_lane == 0u) { partial_c[thread / ${SUBGROUP}u] = squares; }
#endif
  workgroupBarrier();
  if (lane != 0u) { return; }
  for (var k = 1u; k < PARTIALS; k++) {
    acc_a += partial_a[team * PARTIALS + k];
#if ROWS == 8
    acc_b += partial_b[team * PARTIALS + k];
#endif
  }
#else
  partial_a[thread] = acc_a;
#if ROWS == 8
  partial_b[thread] = acc_b;
#endif
#if NORM
  partial_c[thread] = squares;
#endif
  for (var half = LANES / 2u; half > 0u; half = half / 2u) {
    workgroupBarrier();
    if (lane < half) {
      partial_a[thread] += partial_a[thread + half];
#if ROWS == 8
      partial_b[thread] += partial_b[thread + half];
#endif
    }
  }
  workgroupBarrier();
  if (lane != 0u) { return; }
  acc_a = partial_a[thread];
#if ROWS == 8
  acc_b = partial_b[thread];
#endif
#endif
#if NORM
  squares = 0.0;
  for (var k = 0u; k < PARTIALS * TEAMS; k++) { squares += partial_c[k]; }
  let factor = inverseSqrt(squares * p.inverse_k + p.eps);
  acc_a *= factor;
#if ROWS == 8
  acc_b *= factor;
#endif
#endif
  if (first >= p.rows[part]) { return; }
  let quad = first / 4u;
#if EPILOGUE == swiglu
  out0_put(quad, acc_a / (vec4<f32>(1.0) + exp(-acc_a)) * acc_b);
#else
#include "decode/matvec_write.wgsl" QUAD=quad SUM=acc_a
#if ROWS == 8
  if (first_b >= p.rows[part]) { return; }
  let next = quad + 1u;
#include "decode/matvec_write.wgsl" QUAD=next SUM=acc_b
#endif
#endif
