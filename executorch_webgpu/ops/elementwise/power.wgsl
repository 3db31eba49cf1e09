// Powers and floored division with PyTorch's special cases. Needs elementwise/math.wgsl.

fn is_whole(y: f32) -> bool { return abs(y) >= 8388608.0 || trunc(y) == y; }

fn is_odd(y: f32) -> bool { return abs(y) < 16777216.0 && is_whole(y) && (i32(y) & 1) != 0; }

// x^y for finite x > 0 and finite y: 2^(y * (e + log2(m))); y * e is taken in two parts, the first of them exact.
fn positive_pow(x: f32, y: f32) -> f32 {
  let parts = split_float(x);
  let l = log_near_one(parts.x - 1.0);
  let log2_m = l * 1.4426950409 + l * 1.9259629911e-8;
  let whole = parts.y;
  let y_high = bitcast<f32>(bitcast<u32>(y) & 0xfffff000u);
  let y_low = y - y_high;
  let a = y_high * whole;
  let b = y_low * whole + y * log2_m;
  if (a + b > 128.5) { return infinity(); }
  if (a + b < -151.0) { return 0.0; }
  let n = round(a + b);
  let rest = (a - n) + b;
  return scale_by_power(exact_exp(rest * 0.69314718056), i32(n));
}

fn exact_pow(x: f32, y: f32) -> f32 {
  if (y == 0.0 && !is_nan(y)) { return 1.0; }
  if (x == 1.0 && !is_nan(x)) { return 1.0; }
  if (is_nan(x)) { return x; }
  if (is_nan(y)) { return y; }
  let size = abs(x);
  let negative = (bitcast<u32>(x) >> 31u) != 0u;
  if (is_inf(y)) {
    if (size == 1.0) { return 1.0; }
    return select(0.0, infinity(), (size > 1.0) == (y > 0.0));
  }
  let flips = negative && is_odd(y);
  var result: f32;
  if (size == 0.0 || is_inf(x)) {
    result = select(0.0, infinity(), (size == 0.0) == (y < 0.0));
  } else if (negative && !is_whole(y)) {
    return not_a_number();
  } else if (y == 0.5) {
    result = sqrt(size);
  } else if (y == -0.5) {
    result = inverseSqrt(size);
  } else if (is_whole(y) && abs(y) <= 16.0) {
    // As PyTorch does for squares and cubes: products, a few roundings only.
    result = 1.0;
    var factor = size;
    var n = u32(abs(y));
    for (var k = 0u; k < 5u; k++) {
      if ((n & 1u) != 0u) { result = result * factor; }
      factor = factor * factor;
      n = n >> 1u;
    }
    if (y < 0.0) { result = exact_divide(1.0, result); }
  } else {
    result = positive_pow(size, y);
  }
  return select(result, -result, flips);
}

fn integer_pow(x: i32, y: i32) -> i32 {
  if (y < 0) {
    // 1 / x^|y| truncated: only 1 and -1 leave anything.
    return select(select(0, select(1, -1, (y & 1) != 0), x == -1), 1, x == 1);
  }
  var result = 1;
  var factor = x;
  var n = u32(y);
  for (var k = 0u; k < 32u; k++) {
    if ((n & 1u) != 0u) { result = result * factor; }
    factor = factor * factor;
    n = n >> 1u;
  }
  return result;
}

fn floor_divide(a: f32, b: f32) -> f32 {
  let quotient = exact_divide(a, b);
  if (is_nan(quotient) || b == 0.0) { return quotient; }
  if (is_inf(a)) { return not_a_number(); }
  let differ = (a < 0.0) != (b < 0.0);
  if (is_inf(b)) { return select(quotient, -1.0, differ && a != 0.0); }
  if (abs(quotient) >= 16777216.0) { return quotient; }
  // The remainder with the sign of a. A quotient that was rounded up to a whole number gives the other sign.
  var whole = trunc(quotient);
  var rest = division_rest(a, whole, b);
  if (rest != 0.0 && (rest < 0.0) != (a < 0.0)) {
    whole -= select(1.0, -1.0, differ);
    rest = division_rest(a, whole, b);
  }
  // From here on PyTorch's own steps, roundings included.
  var q = exact_divide(a - rest, b);
  if (rest != 0.0 && (rest < 0.0) != (b < 0.0)) { q -= 1.0; }
  if (q == 0.0) { return select(0.0, -0.0, differ); }
  let result = floor(q);
  return select(result, result + 1.0, q - result > 0.5);
}
