// Copies 16 bytes an invocation and row.
@group(0) @binding(0) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> target_: array<vec4<u32>>;
override rows: u32;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let width = groups.x * 256u;
  for (var row = 0u; row < rows; row++) { target_[row * width + id.x] = source[row * width + id.x]; }
}
