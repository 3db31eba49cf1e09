// The packed words with the even column in the low nibble, whatever order they are stored in.
#if HIGH_FIRST
fn ordered(w: vec4<u32>) -> vec4<u32> {
  let low = vec4<u32>(0x0f0f0f0fu);
  return ((w & low) << vec4<u32>(4u)) | ((w >> vec4<u32>(4u)) & low);
}
#else
fn ordered(w: vec4<u32>) -> vec4<u32> { return w; }
#endif
