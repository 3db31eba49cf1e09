    // Column ${K} of the tiles: SIZE values of x against SIZE outputs.
    {
      let a0 = tile_x[(${BASE}u + ${K}u) * QUADS + ty];
      let b0 = tile_w[(${BASE}u + ${K}u) * QUADS + tx];
#if SIZE == 8
      let a1 = tile_x[(${BASE}u + ${K}u) * QUADS + 16u + ty];
      let b1 = tile_w[(${BASE}u + ${K}u) * QUADS + 16u + tx];
#endif
#include "linear4/matmul_step.wgsl" I=0 A=a0.x
#include "linear4/matmul_step.wgsl" I=1 A=a0.y
#include "linear4/matmul_step.wgsl" I=2 A=a0.z
#include "linear4/matmul_step.wgsl" I=3 A=a0.w
#if SIZE == 8
#include "linear4/matmul_step.wgsl" I=4 A=a1.x
#include "linear4/matmul_step.wgsl" I=5 A=a1.y
#include "linear4/matmul_step.wgsl" I=6 A=a1.z
#include "linear4/matmul_step.wgsl" I=7 A=a1.w
#endif
    }
