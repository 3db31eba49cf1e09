// Draws the token from the binned candidates: where top-k, top-p and min-p cut them, then the candidate at which the
// running weight passes the drawn number. Places are found exactly: first the bin, then eight bits of the logits' key
// at a time, then of the ids, each by counting and weighing the candidates that are left.
// Writes the token into the next step's input and (token, log-probability bits, whether a logit was NaN, 0).
@group(0) @binding(0) var<storage, read> partial: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> tally: array<u32>;
@group(0) @binding(2) var<storage, read> entries: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> token: array<i32>;
@group(0) @binding(4) var<storage, read_write> result: array<vec4<u32>>;
struct Params {
  count: u32,
  slices: u32,
  top_k: u32,
  top_p: u32,
  min_p: u32,
  seed: u32,
  position: u32,
  temperature: f32,
}
@group(0) @binding(5) var<uniform> p: Params;
#include "choice/merge.wgsl"
#include "choice/weights.wgsl"
#include "choice/wide.wgsl"

// A place in the order: how many candidates there are up to it, and their weight.
struct Running { count: u32, mass: vec2<u32> }
// A cell (bin or digit) with what comes before it.
struct Cell { index: u32, count: u32, before: Running }
// What is looked for: the candidate with this number, or the first at which the running weight has this much.
struct Goal { by_mass: u32, value: vec2<u32> }
struct Found { entry: vec2<u32>, upto: Running }

const NONE = 0xffffffffu;
const CHUNK = 2048u;  // candidates weighed before limbs are carried
var<workgroup> running: array<vec4<u32>, 256>;
var<workgroup> digits: array<atomic<u32>, 1024>;  // count and three limbs of each digit
var<workgroup> cell: Cell;
var<workgroup> picked: vec2<u32>;
var<workgroup> high_key: atomic<u32>;
var<workgroup> low_key: atomic<u32>;

fn add(a: Running, b: Running) -> Running { return Running(a.count + b.count, wide_add(a.mass, b.mass)); }

fn reached(a: Running, goal: Goal) -> bool {
  return select(a.count >= goal.value.x, !wide_less(a.mass, goal.value), goal.by_mass == 1u);
}

fn shifted(value: u32, by: u32) -> u32 { return select(value >> (by & 31u), 0u, by > 31u); }

// Returns the sum over the invocations before this one; the sum of all is in running[255].
fn scan(own: Running, thread: u32) -> Running {
  running[thread] = vec4<u32>(own.count, own.mass, 0u);
  var sum = own;
  for (var step = 1u; step < 256u; step = step * 2u) {
    workgroupBarrier();
    let left = running[max(thread, step) - step];
    workgroupBarrier();
    if (thread >= step) { sum = add(sum, Running(left.x, left.yz)); }
    running[thread] = vec4<u32>(sum.count, sum.mass, 0u);
  }
  workgroupBarrier();
  return Running(sum.count - own.count, wide_subtract(sum.mass, own.mass));
}

fn bin_total(bin: u32) -> Running {
  let at = bin * 4u;
  return Running(tally[at], wide_from_limbs(vec3<u32>(tally[at + 1u], tally[at + 2u], tally[at + 3u])));
}

// Makes ``cell`` the one of this invocation if the goal lies in it.
fn offer(index: u32, before: Running, own: Running, goal: Goal) {
  if (!reached(before, goal) && reached(add(before, own), goal)) { cell = Cell(index, own.count, before); }
}

fn find_bin(before: Running, goal: Goal, thread: u32) -> Cell {
  if (thread == 0u) { cell = Cell(NONE, 0u, Running(0u, vec2<u32>(0u))); }
  workgroupBarrier();
  var sum = before;
  for (var j = 0u; j < 4u; j++) {
    let own = bin_total(thread * 4u + j);
    offer(thread * 4u + j, sum, own, goal);
    sum = add(sum, own);
  }
  return workgroupUniformLoad(&cell);
}

// Counts and weighs the candidates of a bin that agree in the bits above ``key_shift`` and ``id_shift``, by the digit
// of ``bits`` bits at ``shift`` of the key (or of the id).
fn weigh_digit(start: u32, count: u32, top: u32, keys: vec2<u32>, ids: vec2<u32>, by_id: bool, shift: u32, bits: u32,
               largest: f32, thread: u32) -> Running {
  let at = thread * 4u;
  for (var j = 0u; j < 4u; j++) { atomicStore(&digits[at + j], 0u); }
  workgroupBarrier();
  for (var chunk = 0u; chunk < count; chunk += CHUNK) {
    let end = min(chunk + CHUNK, count);
    for (var i = chunk + thread; i < end; i += 256u) {
      let entry = entries[start + i];
      let below = top - entry.x;
      if (shifted(below, keys.x) == keys.y && shifted(entry.y, ids.x) == ids.y) {
        let digit = (select(below, entry.y, by_id) >> shift) & ((1u << bits) - 1u);
        let mass = units(weight_of(exponent(logit_of(entry.x), largest, p.temperature)));
        atomicAdd(&digits[digit * 4u], 1u);
        atomicAdd(&digits[digit * 4u + 1u], mass.x);
        atomicAdd(&digits[digit * 4u + 2u], mass.y);
      }
    }
    workgroupBarrier();
    let low = atomicLoad(&digits[at + 1u]);
    let high = atomicLoad(&digits[at + 2u]) + (low >> 20u);
    atomicStore(&digits[at + 1u], low & 0xfffffu);
    atomicStore(&digits[at + 2u], high & 0xfffffu);
    atomicAdd(&digits[at + 3u], high >> 20u);
    workgroupBarrier();
  }
  let limbs = vec3<u32>(atomicLoad(&digits[at + 1u]), atomicLoad(&digits[at + 2u]), atomicLoad(&digits[at + 3u]));
  return Running(atomicLoad(&digits[at]), wide_from_limbs(limbs));
}

// Returns the candidate at the goal, which lies in ``bin``.
fn find_candidate(bin: Cell, wanted: Goal, largest: f32, thread: u32) -> Found {
  let start = bin.before.count;
  if (thread == 0u) {
    atomicStore(&high_key, 0u);
    atomicStore(&low_key, 0xffffffffu);
  }
  workgroupBarrier();
  var high = 0u;
  var low = 0xffffffffu;
  for (var i = thread; i < bin.count; i += 256u) {
    let key = entries[start + i].x;
    high = max(high, key);
    low = min(low, key);
  }
  atomicMax(&high_key, high);
  atomicMin(&low_key, low);
  workgroupBarrier();
  let top = atomicLoad(&high_key);
  // (bits still open, the bits above them); keys are counted down from the largest.
  var keys = vec2<u32>(32u - countLeadingZeros(top - atomicLoad(&low_key)), 0u);
  var ids = vec2<u32>(32u - countLeadingZeros(p.count), 0u);
  var left = bin.count;
  var before = bin.before;
  var goal = wanted;
  while (left > 1u && keys.x + ids.x > 0u) {
    let by_id = keys.x == 0u;
    let open = select(keys.x, ids.x, by_id);
    let bits = min(open, 8u);
    let own = weigh_digit(start, bin.count, top, keys, ids, by_id, open - bits, bits, largest, thread);
    let place = scan(own, thread);
    let all = running[255];
    if (thread == 0u) { cell = Cell(NONE, 0u, before); }
    workgroupBarrier();
    // Weights may round in another way here than in the bins: the last candidate is then meant.
    let end = add(before, Running(all.x, all.yz));
    if (goal.by_mass == 1u && wide_less(end.mass, goal.value)) { goal.value = end.mass; }
    offer(thread, add(before, place), own, goal);
    let next = workgroupUniformLoad(&cell);
    if (next.index == NONE) { break; }
    left = next.count;
    before = next.before;
    if (by_id) {
      ids = vec2<u32>(open - bits, (ids.y << bits) | next.index);
    } else {
      keys = vec2<u32>(open - bits, (keys.y << bits) | next.index);
    }
  }
  for (var i = thread; i < bin.count; i += 256u) {
    let entry = entries[start + i];
    if (shifted(top - entry.x, keys.x) == keys.y && shifted(entry.y, ids.x) == ids.y) { picked = entry; }
  }
  let entry = workgroupUniformLoad(&picked);
  let mass = units(weight_of(exponent(logit_of(entry.x), largest, p.temperature)));
  let own = Running(1u, wide_add(vec2<u32>(mass.x, 0u), vec2<u32>(mass.y << 20u, mass.y >> 12u)));
  return Found(entry, add(before, own));
}

fn hash32(value: u32) -> u32 {
  let state = value * 747796405u + 2891336453u;
  let word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
  return (word >> 22u) ^ word;
}

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) thread: u32) {
  if (thread == 0u) { picked = vec2<u32>(0u); }
  var best = Candidate(lowest(), 0xffffffffu, 0.0, 0u);
  for (var i = thread; i < p.slices; i += 256u) {
    let entry = partial[i];
    best = merge(best, Candidate(bitcast<f32>(entry.x), entry.y, bitcast<f32>(entry.z), entry.w));
  }
  best = merge_workgroup(best, thread);
  var own = bin_total(thread * 4u);
  for (var j = 1u; j < 4u; j++) { own = add(own, bin_total(thread * 4u + j)); }
  let before = scan(own, thread);
  let all = running[255];
  workgroupBarrier();
  var kept = Running(p.count, all.yz);
  var drawn = vec2<u32>(key_of(best.value), best.id);
  // Top-k, top-p, min-p, the draw.
  for (var stage = 0u; stage < 4u; stage++) {
    var goal = Goal(0u, vec2<u32>(0u));
    if (stage == 0u && p.top_k < p.count) {
      goal.value.x = p.top_k;
    } else if (stage == 1u && p.top_p > 0u) {
      goal = Goal(1u, wide_share(kept.mass, p.top_p, true));
    } else if (stage == 2u && p.min_p == 1u) {
      goal.value.x = tally[ABOVE];
    } else if (stage == 3u) {
      let u = hash32(p.seed ^ p.position) & 0xffffff00u;
      goal = Goal(1u, wide_add(wide_share(kept.mass, u, false), vec2<u32>(1u, 0u)));
    }
    let nothing = goal.value.x == 0u && goal.value.y == 0u;
    if (!nothing && (goal.by_mass == 1u || goal.value.x < kept.count)) {
      let bin = find_bin(before, goal, thread);
      if (bin.index != NONE) {
        let found = find_candidate(bin, goal, best.value, thread);
        if (stage == 3u) {
          drawn = found.entry;
        } else if (found.upto.count < kept.count) {
          kept = found.upto;
        }
      } else if (goal.by_mass == 0u) {
        // The cut is among candidates without weight.
        kept.count = goal.value.x;
      }
    }
  }
  if (thread == 0u) {
    let logit = logit_of(drawn.x);
    // Infinite logits share all the probability; their difference would be no number.
    var logprob = logit - best.value - log(best.sum);
    if (logit == best.value) { logprob = select(-log(best.sum), 0.0, is_inf(logit)); }
    token[0] = bitcast<i32>(min(drawn.y, p.count - 1u));
    result[0] = vec4<u32>(min(drawn.y, p.count - 1u), bitcast<u32>(logprob), best.nan, 0u);
  }
}
