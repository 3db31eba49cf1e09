// Which block an element belongs to. Members of Params, right-aligned to rank 8: dims and block sizes of the tensor,
// strides of the block's parameters.
fn block_of(flat: u32) -> u32 {
  var rest = flat;
  var index = 0u;
  for (var k = 0u; k < p.rank; k++) {
    let d = 7u - k;
    let size = p.dims[d >> 2u][d & 3u];
    index += ((rest % size) / p.block[d >> 2u][d & 3u]) * p.strides[d >> 2u][d & 3u];
    rest = rest / size;
  }
  return index;
}
