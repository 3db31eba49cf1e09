// What a raw product of query and key becomes: scaled, with the mask added, -inf where the key may not be seen.
// Names of the surroundings: p, and mask_load where MASK is set.
fn infinite_below() -> f32 { return bitcast<f32>(0xff800000u); }
fn is_unseen(s: f32) -> bool { return bitcast<u32>(s) == 0xff800000u; }
fn masked_score(product: f32, batch: u32, head: u32, row: u32, key: u32) -> f32 {
  var s = product * p.scale;
#if MASK
  s += f32(mask_load(batch * p.mask_strides.x + head * p.mask_strides.y + row * p.mask_strides.z
                     + key * p.mask_strides.w));
#endif
#if CAUSAL
  let seen = key <= p.start + row;
#else
  let seen = key < p.length;
#endif
  return select(infinite_below(), s, seen && key < p.length);
}
// exp(s - peak), 0 for what may not be seen; peak is -inf where nothing is seen yet.
fn weight_of(s: f32, peak: f32) -> f32 {
  return select(exp(s - select(peak, 0.0, is_unseen(peak))), 0.0, is_unseen(s));
}
