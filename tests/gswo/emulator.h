// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Runs kernels that were compiled with cuda_emulation.h: each thread of a block has a stack of its
/// own. They run one after the other, from barrier to barrier.
#pragma once

namespace cudascan::gswo::test {

/// @param library  a handle from dlopen()
/// @param kernel   its function NAME_emulated
/// @param grid,block  x, y, z
void emulate(void *library, void (*kernel)(void **), void **arguments, const int *grid,
             const int *block);

}  // namespace cudascan::gswo::test
