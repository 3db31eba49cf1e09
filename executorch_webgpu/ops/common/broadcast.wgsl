// Maps a flat output index to the flat index of an operand that is broadcast to the output's shape.
// Dims are right-aligned to rank 8, the innermost last; a stride of 0 repeats. Members of Params:
// out_dims, x_strides, ... as array<vec4<u32>, 2>.
fn broadcast_index(flat: u32, dims: array<vec4<u32>, 2>, strides: array<vec4<u32>, 2>, rank: u32) -> u32 {
  var rest = flat;
  var index = 0u;
  for (var k = 0u; k < rank; k++) {
    let d = 7u - k;
    let size = dims[d >> 2u][d & 3u];
    index += (rest % size) * strides[d >> 2u][d & 3u];
    rest = rest / size;
  }
  return index;
}
