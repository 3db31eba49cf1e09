// Copies VALUE [B, S, KV, D] into rows start .. start + S of CACHE [B, context, KV, D], as words; PAIR copies a second
// tensor as well. HALVES is for halves whose rows are an odd number: words at the edges keep what they hold of others.
#include "common/grid.wgsl"
@group(0) @binding(0) var<storage, read> value: array<u32>;
@group(0) @binding(1) var<storage, read_write> cache: array<u32>;
#if PAIR
@group(0) @binding(2) var<storage, read> value_2: array<u32>;
@group(0) @binding(3) var<storage, read_write> cache_2: array<u32>;
#endif
struct Params {
  words: u32,
  batches: u32,
  start: u32,
  row: u32,
  rows: u32,
  context: u32,
}
@group(0) @binding(4) var<uniform> p: Params;

#if HALVES
// The half that element i is of its word.
fn half_of(word: u32, i: u32) -> u32 { return (word >> ((i & 1u) * 16u)) & 0xffffu; }
#endif

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let i = flat_id(workgroup, groups, local, 64u);
  if (i >= p.words * p.batches) { return; }
  let batch = i / p.words;
  let at = i % p.words;
#if HALVES
  // Elements of this batch's rows begin at first; the words that they touch are counted from first / 2.
  let first = (batch * p.context + p.start) * p.row;
  let size = p.rows * p.row;
  let place = first / 2u + at;
  let source = batch * size;
  var word = cache[place];
#if PAIR
  var word_2 = cache_2[place];
#endif
  for (var k = 0u; k < 2u; k++) {
    let element = place * 2u + k;
    if (element >= first && element < first + size) {
      let j = source + element - first;
      let keep = 0xffff0000u >> (k * 16u);
      word = (word & keep) | (half_of(value[j / 2u], j) << (k * 16u));
#if PAIR
      word_2 = (word_2 & keep) | (half_of(value_2[j / 2u], j) << (k * 16u));
#endif
    }
  }
  cache[place] = word;
#if PAIR
  cache_2[place] = word_2;
#endif
#else
  let place = (batch * p.context + p.start) * p.row + at;
  cache[place] = value[i];
#if PAIR
  cache_2[place] = value_2[i];
#endif
#endif
}
