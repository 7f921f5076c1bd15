// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

/// Marks what libcudascan exports; everything else is hidden.
#define CUDASCAN_API __attribute__((visibility("default")))

/// Functions that both compilers see: the CPU and the GPU make these decisions with the same code.
#ifdef __CUDACC__
#define CUDASCAN_HD __host__ __device__
#else
#define CUDASCAN_HD
#endif

/// Put before a loop in such a function: it is not unrolled on the GPU, where every instruction
/// that runs for the first time causes a wait.
#ifdef __CUDA_ARCH__
#define CUDASCAN_KEEP_LOOP _Pragma("unroll 1")
#else
#define CUDASCAN_KEEP_LOOP
#endif
