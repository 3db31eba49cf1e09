// Weights of candidates, exp((l - largest) / temperature), in units of 2^-40: sums of integers are exact in any order.
// Bins cut the exponents into 1023 equal pieces; the last bin takes what weighs less than half a unit.
#include "common/division.wgsl"
#include "common/special.wgsl"
const REST = 1023u;
const BINS_PER_UNIT = 36.0;  // 1023 / 36 is just above 41 ln 2: every bin but the last has weight
// The counters in ``tally``: for each bin a count and three limbs of 20 bits of weight, then a cursor for each bin,
// then how many candidates pass min-p.
const CURSORS = 4096u;
const ABOVE = 5120u;

fn exponent(logit: f32, largest: f32, temperature: f32) -> f32 {
  // Equal infinities have full weight.
  if (logit == largest) { return 0.0; }
  let below = largest - logit;
  if (!(below < 3e38)) { return infinity(); }
  return divided(below, temperature);
}

// Below half a unit in the last place of 1 the weight is 1, as correct rounding gives; devices' exp may fall short of it.
fn weight_of(exponent: f32) -> f32 { return select(exp(-exponent), 1.0, exponent < 2.9802322e-8); }

fn bin_of(exponent: f32) -> u32 { return min(u32(min(exponent * BINS_PER_UNIT, 1023.0)), REST); }

// (low, high) of at most 20 bits and one each.
fn units(weight: f32) -> vec2<u32> {
  let scaled = weight * 1048576.0;
  let high = u32(scaled);
  return vec2<u32>(u32(round((scaled - f32(high)) * 1048576.0)), high);
}

// A larger logit has a larger key; both zeros have the same.
fn key_of(logit: f32) -> u32 {
  let bits = select(bitcast<u32>(logit), 0u, (bitcast<u32>(logit) & 0x7fffffffu) == 0u);
  return select(bits | 0x80000000u, ~bits, (bits >> 31u) == 1u);
}

fn logit_of(key: u32) -> f32 { return bitcast<f32>(select(~key, key & 0x7fffffffu, (key >> 31u) == 1u)); }
