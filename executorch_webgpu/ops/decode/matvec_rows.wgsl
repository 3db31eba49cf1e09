  let lane = thread % LANES;
  let team = thread / LANES;
  // Which matrix, and the first of this team's rows in it. Teams past the end repeat the last rows and write nothing.
  let number = workgroup.x * TEAMS + team;
  var part = 0u;
#if PARTS == 3
  if (number >= p.first_team.z) { part = 2u; } else if (number >= p.first_team.y) { part = 1u; }
#endif
#if EPILOGUE == swiglu
  let first = number * 4u;
  let part_b = 1u;
  let first_b = first;
#else
  let first = (number - p.first_team[part]) * ${ROWS}u;
  let part_b = part;
  let first_b = first + 4u;
#endif
  let last = p.rows[part] - 1u;
  let row_a = min(vec4<u32>(first) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(last));
  let base_a = row_a * CHUNKS + p.weight_base[part];
  let scale_a = p.scale_base[part] + (row_a.x / 4u) * GROUPS;
  var acc_a = vec4<f32>(0.0);
#if ROWS == 8
  let row_b = min(vec4<u32>(first_b) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(last));
  let base_b = row_b * CHUNKS + p.weight_base[part_b];
  let scale_b = p.scale_base[part_b] + (row_b.x / 4u) * GROUPS;
  var acc_b = vec4<f32>(0.0);
#endif
  var squares = 0.0;
