// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The user's own code: a function that is called once for each pixel with the window around it,
/// compiled when it is first needed. What it can ask of the window, and how results become samples,
/// is described in gswo/window.h; what is outside of the image:
///
/// | border    | min(), mean(), median() ... see | p(dx, dy) outside gives      |
/// |-----------|---------------------------------|------------------------------|
/// | clip      | samples of the image only       | the nearest sample           |
/// | replicate | the nearest sample              | the same                     |
/// | reflect   | the image reflected             | the same                     |
/// | constant  | the level border-value          | the same                     |
///
/// The same text is compiled for the GPU and for the CPU, without contraction and fast math, and
/// calls the same library (gswo/library.h): results are identical.
#pragma once
#include "kernels/swofilter/window.h"

namespace cudascan::swo {

/// Throws BadSetting if there is no code, or a name that code cannot have.
void check_custom(const SwoFilterParams &);

/// @throws BadSetting with the compiler's messages, in terms of the user's file
/// @throws Error without a compiler for the backend
template <typename T>
void custom(Cpu &, Plane<const T> in, Plane<T> out, const Job &, const SwoFilterParams &);
template <typename T>
void custom(Cuda &, Plane<const T> in, Plane<T> out, const Job &, const SwoFilterParams &);

}  // namespace cudascan::swo
