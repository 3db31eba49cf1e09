  // Row ${I} of the thread's tile.
  write_four(workgroup.z, row + ${ROW}u, n, c${I}0);
#if SIZE == 8
  write_four(workgroup.z, row + ${ROW}u, n + 64u, c${I}1);
#endif
