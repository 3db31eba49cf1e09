      // Row ${I} of the thread's tile: one value of x, all columns.
      c${I}0 = fma(vec4<f32>(${A}), b0, c${I}0);
#if SIZE == 8
      c${I}1 = fma(vec4<f32>(${A}), b1, c${I}1);
#endif
