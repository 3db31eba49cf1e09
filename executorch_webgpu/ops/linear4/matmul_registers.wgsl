  // Row ${I} of the thread's tile.
  var c${I}0 = vec4<f32>(0.0);
#if SIZE == 8
  var c${I}1 = vec4<f32>(0.0);
#endif
