// Reads a quad of operand NAME, broadcast to the output, as vec4<value_t>. Members of Params: NAME_mode (0: laid out as
// the output, 1: one element, 2: by NAME_strides), out_dims, rank, count and whole_quads (the innermost output dim is a
// multiple of 4, so that a quad never leaves a row).
fn ${NAME}_read(q: u32) -> vec4<value_t> {
  if (p.${NAME}_mode == 0u) { return vec4<value_t>(${NAME}_quad(q)); }
  if (p.${NAME}_mode == 1u) { return vec4<value_t>(value_t(${NAME}_load(0u))); }
  var result: vec4<value_t>;
  if (p.whole_quads != 0u) {
    let base = broadcast_index(q * 4u, p.out_dims, p.${NAME}_strides, p.rank);
    let step = p.${NAME}_strides[1].w;
    if (step == 0u) { return vec4<value_t>(value_t(${NAME}_load(base))); }
    for (var k = 0u; k < 4u; k++) { result[k] = value_t(${NAME}_load(base + k * step)); }
    return result;
  }
  for (var k = 0u; k < 4u; k++) {
    let i = min(q * 4u + k, p.count - 1u);
    result[k] = value_t(${NAME}_load(broadcast_index(i, p.out_dims, p.${NAME}_strides, p.rank)));
  }
  return result;
}
