// Elementary functions in float32 with PyTorch's limits: no argument is too large, infinities and NaN come out as in IEEE.
// WGSL's own leave large arguments open and are good to 3 + 2|x| ulp only. Needs common/special.wgsl.

// 2^n for any n in [-252, 254] times y, in two steps so that neither power overflows.
fn scale_by_power(y: f32, n: i32) -> f32 {
  let half = n >> 1u;
  return y * bitcast<f32>(u32(half + 127) << 23u) * bitcast<f32>(u32(n - half + 127) << 23u);
}

fn exact_exp(x: f32) -> f32 {
  if (is_nan(x)) { return x; }
  if (x > 88.73) { return infinity(); }
  if (x < -104.0) { return 0.0; }
  let n = round(x * 1.4426950409);
  let r = (x - n * 0.693145751953125) - n * 1.42860682030941723e-6;
  // Taylor: |r| <= 0.3466, so that the term left out is below 6e-9.
  let tail = 0.5 + r * (0.16666667 + r * (0.041666668 + r * (0.0083333338 + r * (0.0013888889 + r * 0.00019841270))));
  return scale_by_power(1.0 + (r + r * r * tail), i32(n));
}

// x of (0, inf) as (m, e) with x = m * 2^e and m in [sqrt(1/2), sqrt(2)).
fn split_float(x: f32) -> vec2<f32> {
  var bits = bitcast<u32>(x);
  var e = i32(bits >> 23u);
  if (e == 0) {
    let shift = countLeadingZeros(bits) - 8u;
    bits = bits << shift;
    e = 1 - i32(shift);
  }
  bits = bits & 0x007fffffu;
  e -= 127;
  var m = bitcast<f32>(bits | 0x3f800000u);
  if (m > 1.41421356) { m = m * 0.5; e += 1; }
  return vec2<f32>(m, f32(e));
}

// log(1 + f) for 1 + f in [sqrt(1/2), sqrt(2)]: twice the inverse hyperbolic tangent of f / (2 + f).
fn log_near_one(f: f32) -> f32 {
  let s = f / (2.0 + f);
  let z = s * s;
  let series = z * (0.66666667 + z * (0.4 + z * (0.28571430 + z * (0.22222222 + z * 0.18181818))));
  // f - s * (f - series) keeps the leading term exact.
  return f - s * (f - series);
}

fn exact_log(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  if (is_nan(x)) { return x; }
  if ((bits & 0x7fffffffu) == 0u) { return -infinity(); }
  if ((bits >> 31u) != 0u) { return not_a_number(); }
  if (is_inf(x)) { return x; }
  let parts = split_float(x);
  return parts.y * 0.693145751953125 + (log_near_one(parts.x - 1.0) + parts.y * 1.42860682030941723e-6);
}

fn exact_log10(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  if (is_nan(x) || (bits & 0x7fffffffu) == 0u || (bits >> 31u) != 0u || is_inf(x)) { return exact_log(x); }
  let parts = split_float(x);
  // log10(2) in two parts, the first of 12 bits: its product with the exponent is exact.
  return parts.y * 0.301025390625 + (log_near_one(parts.x - 1.0) * 0.43429448 + parts.y * 4.60503906e-6);
}

fn exact_log1p(x: f32) -> f32 {
  if (abs(x) < 1e-30) { return x; }
  if (x > -0.29 && x < 0.41) { return log_near_one(x); }
  return exact_log(1.0 + x);
}

fn exact_tanh(x: f32) -> f32 {
  let size = abs(x);
  if (is_nan(x)) { return x; }
  if (size > 9.1) { return select(1.0, -1.0, x < 0.0); }
  if (size < 0.625) {
    let z = x * x;
    return x + x * z * (-0.33333329 + z * (0.13332782 + z * (-0.0538525 + z * (0.02100364 - z * 0.00610495))));
  }
  let y = 1.0 - 2.0 / (exact_exp(2.0 * size) + 1.0);
  return select(y, -y, x < 0.0);
}

fn exact_sigmoid(x: f32) -> f32 {
  if (is_nan(x)) { return x; }
  let e = exact_exp(-abs(x));
  return select(1.0, e, x < 0.0) / (1.0 + e);
}

// erf from a fit of erf(x) / x in x^2 below 1 and of log(erfc(x)) above.
fn exact_erf(x: f32) -> f32 {
  let t = abs(x);
  if (is_nan(x)) { return x; }
  if (t >= 4.0) { return select(1.0, -1.0, x < 0.0); }
  if (t < 1.0) {
    let z = x * x;
    return x * (1.12837917 + z * (-0.376126269 + z * (0.112835975 + z * (-0.0268543288 + z * (0.00518931194
        + z * (-0.0008018855 + z * 0.0000788249712))))));
  }
  let r = 0.000163986573 + t * (-1.12946361 + t * (-0.633450744 + t * (-0.108165375 + t * (0.0250447644
      + t * (-0.00414246102 + t * (0.000428496614 - t * 0.0000205727514))))));
  let y = 1.0 - exact_exp(r);
  return select(y, -y, x < 0.0);
}

// The upper word of w * m for m below 2^24.
fn high_product(w: u32, m: u32) -> u32 {
  let low = (w & 0xffffu) * (m & 0xffffu);
  let cross = (w >> 16u) * (m & 0xffffu);
  let middle = (low >> 16u) + (cross & 0xffffu) + (w & 0xffffu) * (m >> 16u);
  return (w >> 16u) * (m >> 16u) + (cross >> 16u) + (middle >> 16u);
}

// |x| >= 0.5 as a multiple q of pi/2 and a rest r in [-pi/4, pi/4], by multiplying with enough bits of 2/pi (Payne, Hanek).
struct Turn { r: f32, q: u32 }
fn reduce_angle(x: f32) -> Turn {
  var bits_of_2_over_pi = array<u32, 8>(
    0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu);
  let bits = bitcast<u32>(x) & 0x7fffffffu;
  let m = (bits & 0x007fffffu) | 0x00800000u;
  // x = m * 2^(exponent - 150); bits of 2/pi whose product with it is a multiple of 4 are left out.
  let start = (bits >> 23u) - 120u;
  let word = min(start >> 5u, 4u);
  let shift = start & 31u;
  var w: array<u32, 3>;
  for (var k = 0u; k < 3u; k++) {
    // Two shifts: a shift by 32 is not defined.
    w[k] = (bits_of_2_over_pi[word + k] << shift) | ((bits_of_2_over_pi[word + k + 1u] >> 1u) >> (31u - shift));
  }
  let p2 = w[2] * m;
  let p1 = w[1] * m + high_product(w[2], m);
  let carry = select(0u, 1u, p1 < w[1] * m);
  let p0 = w[0] * m + high_product(w[1], m) + carry;
  var high = (p0 << 2u) | (p1 >> 30u);
  var low = (p1 << 2u) | (p2 >> 30u);
  var q = p0 >> 30u;
  var sign = 1.0;
  if ((high >> 31u) != 0u) {
    q += 1u;
    low = ~low;
    high = ~high;
    sign = -1.0;
  }
  var turns = f32(high) * 2.3283064365386963e-10 + f32(low) * 5.421010862427522e-20;
  var r = sign * turns * 1.5707963267948966;
  if ((bitcast<u32>(x) >> 31u) != 0u) {
    r = -r;
    q = 4u - (q & 3u);
  }
  return Turn(r, q & 3u);
}

fn sine_series(r: f32) -> f32 {
  let z = r * r;
  return r + r * z * (-0.16666667 + z * (0.0083333333 + z * (-0.00019841270 + z * 0.0000027557319)));
}

fn cosine_series(r: f32) -> f32 {
  let z = r * r;
  return 1.0 + z * (-0.5 + z * (0.041666667 + z * (-0.0013888889 + z * (0.000024801587 - z * 2.7557319e-7))));
}

fn angle(x: f32) -> Turn {
  if (abs(x) <= 0.75) { return Turn(x, 0u); }
  return reduce_angle(x);
}

fn exact_sin(x: f32) -> f32 {
  if (is_nan(x) || is_inf(x)) { return not_a_number(); }
  let t = angle(x);
  let y = select(sine_series(t.r), cosine_series(t.r), (t.q & 1u) != 0u);
  return select(y, -y, (t.q & 2u) != 0u);
}

fn exact_cos(x: f32) -> f32 {
  if (is_nan(x) || is_inf(x)) { return not_a_number(); }
  let t = angle(x);
  let y = select(cosine_series(t.r), sine_series(t.r), (t.q & 1u) != 0u);
  return select(y, -y, t.q == 1u || t.q == 2u);
}

fn exact_tan(x: f32) -> f32 {
  if (is_nan(x) || is_inf(x)) { return not_a_number(); }
  let t = angle(x);
  let s = sine_series(t.r);
  let c = cosine_series(t.r);
  return select(s / c, -c / s, (t.q & 1u) != 0u);
}

fn exact_sqrt(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  if (is_nan(x) || (bits & 0x7fffffffu) == 0u) { return x; }
  if ((bits >> 31u) != 0u) { return not_a_number(); }
  if (is_inf(x)) { return x; }
  return sqrt(x);
}

fn exact_rsqrt(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  if (is_nan(x)) { return x; }
  if ((bits & 0x7fffffffu) == 0u) { return bitcast<f32>((bits & 0x80000000u) | 0x7f800000u); }
  if ((bits >> 31u) != 0u) { return not_a_number(); }
  if (is_inf(x)) { return 0.0; }
  return inverseSqrt(x);
}

// a / b, correctly rounded in the normal range: floor and trunc of a quotient depend on it.
fn exact_divide(a: f32, b: f32) -> f32 {
  let a_bits = bitcast<u32>(a);
  let b_bits = bitcast<u32>(b);
  let sign = (a_bits ^ b_bits) & 0x80000000u;
  if (is_nan(a) || is_nan(b)) { return not_a_number(); }
  if (is_inf(a)) { return select(bitcast<f32>(sign | 0x7f800000u), not_a_number(), is_inf(b)); }
  if (is_inf(b)) { return bitcast<f32>(sign); }
  if ((b_bits & 0x7fffffffu) == 0u) {
    return select(bitcast<f32>(sign | 0x7f800000u), not_a_number(), (a_bits & 0x7fffffffu) == 0u);
  }
  let q = a / b;
  // Outside of this range the rest below would lose bits or overflow.
  let q_size = abs(q);
  let b_size = abs(b);
  if (q_size < 1e-15 || q_size > 1e15 || b_size < 1e-15 || b_size > 1e15) { return q; }
  return q + division_rest(a, q, b) / b;
}

// a - q * b as if computed exactly, where q is close to a / b.
fn division_rest(a: f32, q: f32, b: f32) -> f32 {
  // Halves of 12 bits: their products are exact.
  let q_high = bitcast<f32>(bitcast<u32>(q) & 0xfffff000u);
  let b_high = bitcast<f32>(bitcast<u32>(b) & 0xfffff000u);
  let q_low = q - q_high;
  let b_low = b - b_high;
  return (((a - q_high * b_high) - q_high * b_low) - q_low * b_high) - q_low * b_low;
}
