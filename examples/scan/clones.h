// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

/// Put before a function that is one loop: it is compiled for several instruction sets, and the
/// processor picks one at run time.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define CUDASCAN_CLONES [[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]]
#else
#define CUDASCAN_CLONES
#endif
