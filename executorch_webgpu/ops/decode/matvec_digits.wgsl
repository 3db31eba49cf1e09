// The one-token product with integer arithmetic: turning nibbles into floats would cost more than the products. The 32
// values of a chunk of x become integers of 23 bits that share a unit, a power of two, written as three balanced digits
// of base 256; dot4I8Packed multiplies digits and nibbles. A chunk's sum of 32 products is exact in 32 bits; what is
// lost is half a unit for each value of x, 2^-22 of the chunk's largest, about as much as float32 sums lose. A chunk
// with an infinity or NaN makes every sum NaN.
#include "decode/matvec_operands.wgsl"
const OCTETS: u32 = LANES * 4u;  // of x in a slab of LANES chunks: eight values that one invocation converts
const READS: u32 = (OCTETS + THREADS - 1u) / THREADS;
const UNIT_SHIFT: u32 = 21u << 23u;  // of exponents: the largest value of a chunk has 22 bits and the sign
// Per chunk: high, middle and low digits, four pairs each (even and odd columns of a word), then unit and offset. The
// odd stride keeps the lanes' reads apart.
const STRIDE: u32 = 13u;
var<workgroup> slab: array<vec2<u32>, LANES * STRIDE>;

struct Plane { w0: vec2<u32>, w1: vec2<u32>, w2: vec2<u32>, w3: vec2<u32> }

fn plane(at: u32) -> Plane { return Plane(slab[at], slab[at + 1u], slab[at + 2u], slab[at + 3u]); }

fn plane_dot(even: vec4<u32>, odd: vec4<u32>, d: Plane) -> i32 {
  return dot4I8Packed(even.x, d.w0.x) + dot4I8Packed(odd.x, d.w0.y)
       + dot4I8Packed(even.y, d.w1.x) + dot4I8Packed(odd.y, d.w1.y)
       + dot4I8Packed(even.z, d.w2.x) + dot4I8Packed(odd.z, d.w2.y)
       + dot4I8Packed(even.w, d.w3.x) + dot4I8Packed(odd.w, d.w3.y);
}

fn row_dot(w: vec4<u32>, high: Plane, middle: Plane, low: Plane) -> i32 {
  let even = w & vec4<u32>(0x0f0f0f0fu);
  let odd = (w >> vec4<u32>(4u)) & vec4<u32>(0x0f0f0f0fu);
  return (plane_dot(even, odd, high) << 16u) + (plane_dot(even, odd, middle) << 8u) + plane_dot(even, odd, low);
}

// The low, middle and high digits of four values: bytes transposed.
fn digits(values: vec4<i32>) -> vec3<u32> {
  let v = bitcast<vec4<u32>>(values);
  let outer = (v.xz & vec2<u32>(0x00ff00ffu)) | ((v.yw & vec2<u32>(0x00ff00ffu)) << vec2<u32>(8u));
  let inner = ((v.xz >> vec2<u32>(8u)) & vec2<u32>(0xffu)) | (v.yw & vec2<u32>(0xff00u));
  return vec3<u32>((outer.x & 0xffffu) | (outer.y << 16u), inner.x | (inner.y << 16u),
                   (outer.x >> 16u) | (outer.y & 0xffff0000u));
}

// The nearest integers of values up to 2^22 in size: the sum's last bit is a whole one.
fn nearest(values: vec4<f32>) -> vec4<i32> {
  return bitcast<vec4<i32>>(values + vec4<f32>(12582912.0)) - vec4<i32>(0x4b400000);
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32,
        @builtin(subgroup_invocation_id) sub_lane: u32) {
#include "decode/matvec_rows.wgsl"
  for (var begin = 0u; begin < CHUNKS; begin += LANES) {
    // Everything that a slab needs is asked for before the first value is used, so that the loads wait together.
    var xs: array<vec4<f32>, READS * 2u>;
#if NORM
    var gammas: array<vec4<f32>, READS * 2u>;
#endif
    for (var i = 0u; i < READS; i++) {
      let quad = min((begin * 4u + thread + i * THREADS) * 2u, CHUNKS * 8u - 2u);
      xs[i * 2u] = x_quad(quad);
      xs[i * 2u + 1u] = x_quad(quad + 1u);
#if NORM
      gammas[i * 2u] = gamma_quad(quad);
      gammas[i * 2u + 1u] = gamma_quad(quad + 1u);
#endif
    }
    let chunk = min(begin + lane, CHUNKS - 1u);
    let group = chunk / CHUNKS_PER_GROUP;
    var weights_a: array<vec4<u32>, 4>;
    for (var r = 0u; r < 4u; r++) { weights_a[r] = weight[base_a[r] + chunk]; }
    let scales_a = scale[scale_a + group];
#if ROWS == 8
    var weights_b: array<vec4<u32>, 4>;
    for (var r = 0u; r < 4u; r++) { weights_b[r] = weight[base_b[r] + chunk]; }
    let scales_b = scale[scale_b + group];
#endif
    if (begin > 0u) { workgroupBarrier(); }
    for (var i = 0u; i < READS; i++) {
      let at = thread + i * THREADS;
      let inside = at < OCTETS && begin * 4u + at < CHUNKS * 4u;
      var u = select(vec4<f32>(0.0), xs[i * 2u], inside);
      var v = select(vec4<f32>(0.0), xs[i * 2u + 1u], inside);
#if NORM
      squares += dot(u, u) + dot(v, v);
      u *= gammas[i * 2u];
      v *= gammas[i * 2u + 1u];
#endif
      // Bits of sizes order like the sizes, and NaN comes last. Four neighbours hold a chunk.
      let sizes = max(bitcast<vec4<u32>>(abs(u)), bitcast<vec4<u32>>(abs(v)));
      var largest = max(max(sizes.x, sizes.y), max(sizes.z, sizes.w));
      largest = max(largest, subgroupShuffleXor(largest, 1u));
      largest = max(largest, subgroupShuffleXor(largest, 2u));
      let power = clamp(largest & 0x7f800000u, UNIT_SHIFT + 0x00800000u, 0x7f000000u);
      let units = bitcast<f32>(0x7f000000u + UNIT_SHIFT - power);
      let a = nearest(u * units);
      let b = nearest(v * units);
      let both = a + b;
      var sum = (both.x + both.y) + (both.z + both.w);
      sum += subgroupShuffleXor(sum, 1u);
      sum += subgroupShuffleXor(sum, 2u);
      // Adding 128 to every digit and flipping its top bit makes bytes of balanced digits.
      let bias = vec4<i32>(0x808080);
      let balanced_a = (a + bias) ^ bias;
      let balanced_b = (b + bias) ^ bias;
      let even = digits(vec4<i32>(balanced_a.xz, balanced_b.xz));
      let odd = digits(vec4<i32>(balanced_a.yw, balanced_b.yw));
      if (at < OCTETS) {
        let place = (at / 4u) * STRIDE;
        let word = place + at % 4u;
        slab[word] = vec2<u32>(even.z, odd.z);
        slab[word + 4u] = vec2<u32>(even.y, odd.y);
        slab[word + 8u] = vec2<u32>(even.x, odd.x);
        if (at % 4u == 0u) {
          // The zero point of the weights is 8.
          let unit = select(power - UNIT_SHIFT, 0x7fc00000u, largest >= 0x7f800000u);
          slab[place + 12u] = vec2<u32>(unit, bitcast<u32>(sum * 8));
        }
      }
    }
    workgroupBarrier();
    // Lanes past the last column meet zeros in the slab.
    let at = lane * STRIDE;
    let high = plane(at);
    let middle = plane(at + 4u);
    let low = plane(at + 8u);
    let unit = bitcast<f32>(slab[at + 12u].x);
    let offset = bitcast<i32>(slab[at + 12u].y);
    var sums_a: vec4<i32>;
    for (var r = 0u; r < 4u; r++) { sums_a[r] = row_dot(weights_a[r], high, middle, low) - offset; }
    acc_a += (scales_a * unit) * vec4<f32>(sums_a);
#if ROWS == 8
    var sums_b: vec4<i32>;
    for (var r = 0u; r < 4u; r++) { sums_b[r] = row_dot(weights_b[r], high, middle, low) - offset; }
    acc_b += (scales_b * unit) * vec4<f32>(sums_b);
#endif
  }

#include "decode/matvec_finish.wgsl"
}
