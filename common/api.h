// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

/// Marks what libcudascan exports; everything else is hidden.
#define CUDASCAN_API __attribute__((visibility("default")))

/// Functions that both compilers see: decisions which the CPU and the GPU take with the same code.
#ifdef __CUDACC__
#define CUDASCAN_HD __host__ __device__
#else
#define CUDASCAN_HD
#endif

/// Before a loop in these: it stays one on the GPU, where instructions that are run for the first time
/// are waited for.
#ifdef __CUDA_ARCH__
#define CUDASCAN_KEEP_LOOP _Pragma("unroll 1")
#else
#define CUDASCAN_KEEP_LOOP
#endif
