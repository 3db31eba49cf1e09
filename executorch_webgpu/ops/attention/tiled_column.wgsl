#if STEP == declare
  // Columns 64 ${C} + 4 tx of the four rows.
  var o0${C} = vec4<f32>(0.0);
  var o1${C} = vec4<f32>(0.0);
  var o2${C} = vec4<f32>(0.0);
  var o3${C} = vec4<f32>(0.0);
  let d${C} = min(tx + ${C}u * 16u, QUADS - 1u);
#elif STEP == scale
    o0${C} *= shrink.x;
    o1${C} *= shrink.y;
    o2${C} *= shrink.z;
    o3${C} *= shrink.w;
#elif STEP == add
      let v${C} = values_quad(at + d${C});
      o0${C} += w.x * v${C};
      o1${C} += w.y * v${C};
      o2${C} += w.z * v${C};
      o3${C} += w.w * v${C};
#else
  write_row(batch, head, row_0, tx + ${C}u * 16u, o0${C}, sum.x);
  write_row(batch, head, row_0 + 1u, tx + ${C}u * 16u, o1${C}, sum.y);
  write_row(batch, head, row_0 + 2u, tx + ${C}u * 16u, o2${C}, sum.z);
  write_row(batch, head, row_0 + 3u, tx + ${C}u * 16u, o3${C}, sum.w);
#endif
