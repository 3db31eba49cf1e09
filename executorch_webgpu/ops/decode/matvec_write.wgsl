  // Four rows of the result, into the output of their matrix.
#if EPILOGUE == add
  out0_put(${QUAD}, ${SUM} + residual_quad(${QUAD}));
#elif PARTS == 3
  if (part == 0u) { out0_put(${QUAD}, ${SUM}); } else if (part == 1u) { out1_put(${QUAD}, ${SUM}); } else { out2_put(${QUAD}, ${SUM}); }
#else
  out0_put(${QUAD}, ${SUM});
#endif
