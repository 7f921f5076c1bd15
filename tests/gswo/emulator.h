// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Runs kernels that were compiled with cuda_emulation.h: each thread of a block has a stack of its
/// own. They run one after the other, from barrier to barrier.
#pragma once

namespace cudascan::gswo::test {

/// @param library  a handle from dlopen()
/// @param kernel   its function NAME_emulated
void emulate(void *library, void (*kernel)(void **), void **arguments, int grid_x, int grid_y,
             int block_x, int block_y);

}  // namespace cudascan::gswo::test
