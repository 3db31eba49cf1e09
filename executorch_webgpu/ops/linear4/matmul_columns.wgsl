    // Eight columns of the tiles, written out: the loop around them would cost a third of the time.
#include "linear4/matmul_column.wgsl" K=0
#include "linear4/matmul_column.wgsl" K=1
#include "linear4/matmul_column.wgsl" K=2
#include "linear4/matmul_column.wgsl" K=3
#include "linear4/matmul_column.wgsl" K=4
#include "linear4/matmul_column.wgsl" K=5
#include "linear4/matmul_column.wgsl" K=6
#include "linear4/matmul_column.wgsl" K=7
