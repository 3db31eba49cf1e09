// The index of an invocation in a one-dimensional grid that may be folded into y.
fn flat_id(workgroup: vec3<u32>, groups: vec3<u32>, local: u32, size: u32) -> u32 {
  return (workgroup.y * groups.x + workgroup.x) * size + local;
}
