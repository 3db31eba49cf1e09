// Reports the smallest and the largest subgroup size over a workgroup of 64 and of 256 invocations.
@group(0) @binding(0) var<storage, read_write> sizes: array<atomic<u32>>;
override SIZE: u32 = 64u;

@compute @workgroup_size(SIZE)
fn main(@builtin(subgroup_size) size: u32) {
  atomicMax(&sizes[0], size);
  atomicMax(&sizes[1], 1024u - size);
}
