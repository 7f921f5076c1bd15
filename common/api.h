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
