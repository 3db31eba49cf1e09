// 64-bit unsigned integers as (low, high) words.
fn wide_add(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let low = a.x + b.x;
  return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}

fn wide_subtract(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return vec2<u32>(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}

fn wide_less(a: vec2<u32>, b: vec2<u32>) -> bool { return a.y < b.y || (a.y == b.y && a.x < b.x); }

// Three limbs of 20 bits, each with room for carries.
fn wide_from_limbs(limbs: vec3<u32>) -> vec2<u32> {
  let middle = vec2<u32>(limbs.y << 20u, limbs.y >> 12u);
  return wide_add(vec2<u32>(limbs.x, limbs.z << 8u), middle);
}

fn wide_product(a: u32, b: u32) -> vec2<u32> {
  let a0 = a & 0xffffu;
  let a1 = a >> 16u;
  let b0 = b & 0xffffu;
  let b1 = b >> 16u;
  let middle = wide_add(vec2<u32>(a1 * b0, 0u), vec2<u32>(a0 * b1, 0u));
  let shifted = vec2<u32>(middle.x << 16u, (middle.x >> 16u) | (middle.y << 16u));
  return wide_add(vec2<u32>(a0 * b0, a1 * b1), shifted);
}

// floor(a * fraction / 2^32), one more where ``up`` and there is a rest.
fn wide_share(a: vec2<u32>, fraction: u32, up: bool) -> vec2<u32> {
  let low = wide_product(a.x, fraction);
  let whole = wide_add(wide_product(a.y, fraction), vec2<u32>(low.y, 0u));
  return wide_add(whole, vec2<u32>(select(0u, 1u, up && low.x > 0u), 0u));
}
