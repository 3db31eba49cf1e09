// Joins candidates for the largest logit: the lower id wins among equals; sums of exponentials are brought to the
// larger value.
struct Candidate { value: f32, id: u32, sum: f32, nan: u32 }
var<workgroup> candidates: array<Candidate, 256>;

fn lowest() -> f32 { return bitcast<f32>(0xff800000u); }

fn scaled(sum: f32, value: f32, largest: f32) -> f32 {
  // Equal infinities count whole; their difference would be no number.
  return select(sum * exp(value - largest), sum, value == largest);
}

fn merge(a: Candidate, b: Candidate) -> Candidate {
  let first = a.value > b.value || (a.value == b.value && a.id < b.id);
  let largest = select(b.value, a.value, first);
  return Candidate(largest, select(b.id, a.id, first),
                   scaled(a.sum, a.value, largest) + scaled(b.sum, b.value, largest), a.nan | b.nan);
}

fn merge_workgroup(mine: Candidate, thread: u32) -> Candidate {
  candidates[thread] = mine;
  for (var half = 128u; half > 0u; half = half / 2u) {
    workgroupBarrier();
    if (thread < half) { candidates[thread] = merge(candidates[thread], candidates[thread + half]); }
  }
  workgroupBarrier();
  return candidates[0];
}
