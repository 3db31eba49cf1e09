// Values that WGSL literals cannot say, and tests that the compiler may not fold away.
fn infinity() -> f32 { return bitcast<f32>(0x7f800000u); }
fn not_a_number() -> f32 { return bitcast<f32>(0x7fc00000u); }
fn is_nan(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
fn is_inf(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) == 0x7f800000u; }
