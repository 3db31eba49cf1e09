      // Row ${I} of the thread's tile: one value of x, all columns.
      c${I}0 += ${A} * b0;
#if SIZE == 8
      c${I}1 += ${A} * b1;
#endif
