// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

/// Before a loop in a function of its own: compiled for several instruction sets, of which the processor
/// that runs picks one.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define CUDASCAN_CLONES [[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]]
#else
#define CUDASCAN_CLONES
#endif
