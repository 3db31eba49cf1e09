// total(v, lane) is the sum of v over a workgroup of LANES invocations, the same in all of them; every invocation of
// the workgroup must call it. SUBGROUP is the subgroups' fixed size, empty where there are none; T is f32 or vec4<f32>.
#if SUBGROUP
var<workgroup> reduced: array<${T}, ${LANES}u / ${SUBGROUP}u>;
fn total(v: ${T}, lane: u32) -> ${T} {
  let part = subgroupAdd(v);
  if (lane % ${SUBGROUP}u == 0u) { reduced[lane / ${SUBGROUP}u] = part; }
  workgroupBarrier();
  var sum = reduced[0];
  for (var i = 1u; i < ${LANES}u / ${SUBGROUP}u; i++) { sum += reduced[i]; }
  workgroupBarrier();
  return sum;
}
#else
var<workgroup> reduced: array<${T}, ${LANES}u>;
fn total(v: ${T}, lane: u32) -> ${T} {
  reduced[lane] = v;
  workgroupBarrier();
  for (var half = ${LANES}u / 2u; half > 0u; half = half / 2u) {
    if (lane < half) { reduced[lane] += reduced[lane + half]; }
    workgroupBarrier();
  }
  let sum = reduced[0];
  workgroupBarrier();
  return sum;
}
#endif
