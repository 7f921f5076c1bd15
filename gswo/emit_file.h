// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The kernel output: one file that is both the CUDA kernel (NVRTC, nvcc) and the CPU version (g++,
/// clang++) of each filter. It is compiled as C++20 without contraction of floating-point
/// operations (-fmad=false, -ffp-contract=off), so that both give the same pixels.
///
/// ## The manifest, version 1
///
/// Lines that begin with `//@gswo ` say how an element runs the filters. They are together at the
/// top of the file. One blank separates words; names are C identifiers.
///
///     manifest  = "manifest 1" { function }
///     function  = "function" NAME { constant | scalar | unused | image } { step } "done"
///     constant  = "constant" NAME VALUE            a parameter that --set made constant
///     unused    = "unused" NAME                    a parameter that no kernel needs
///     scalar    = "scalar" NAME ROLE [DEFAULT] ":" TYPE
///     ROLE      = "height" | "width" | "value" | "turn"
///     image     = "image" NAME PLACE ":" TYPE
///     PLACE     = "source" | "destination" | "scratch" | "other"
///     step      = kernel | copy | clear | repeat | end | swap
///     kernel    = "kernel" NAME "block" BX BY "tile" TX TY "origin" Y X "lead" Y X "shared" BYTES
///                 { argument } "launch"
///     argument  = "read" IMAGE Y0 Y1 X0 X1 ["unbounded"] | "write" IMAGE | "value" SCALAR
///     copy      = "copy" NAME IMAGE IMAGE          kernel NAME copies the first to the second
///     clear     = "clear" IMAGE                    fill with zeros
///     repeat    = "repeat" COUNT ( SCALAR | "-" ) [ "turn" SCALAR FIRST STEP ]
///     end       = "end"                            the end of the nearest repeat
///     swap      = "swap" IMAGE IMAGE               from here on each name means the other's buffer
///
/// - TYPE extends to the end of its line: an arithmetic type of C++, such as `unsigned char` or
///   `float`.
/// - Steps run in order; those between repeat and its end are repeated.
/// - repeat: runs COUNT + the value of SCALAR times (COUNT times with "-"), if that is positive.
///   The scalar after "turn" has the value FIRST in the first repetition, then FIRST + STEP and so
///   on.
/// - source is the frame and destination is the result. Their pixels have the types GSWO_SRC_T and
///   GSWO_DST_T in memory, set by -D when the file is compiled (default unsigned char). Pixels of
///   scratch images have the image's own type; the element gives these images the size of the
///   frame. `other` is a second input that an element can't provide: refuse the function, or let
///   the user bind it (it is read as GSWO_SRC_T). source is never written, and destination is
///   written completely.
/// - Every parameter that is not an image has a line. --set does not make height and width
///   constant.
/// - height and width are the size of the frame, value comes from the user, and repeat sets turn.
///   DEFAULT is the default argument in the source.
/// - Arguments are in the order of the kernel's parameters. An image is passed as a gswo::Plane:
///   the address of its first pixel, bytes between rows, width, height, and `ox` = X, `oy` = Y of
///   origin, which are the user's indices of the first column and row. A scalar is passed as its
///   value of TYPE. Y0 Y1 X0 X1 are the offsets that are read around a pixel; with "unbounded",
///   others may be read, too.
/// - A kernel is launched with blocks of BX x BY threads on a grid of ceil((width + lead X) / TX) x
///   ceil((height + lead Y) / TY) blocks, and no dynamic shared memory. It checks its bounds
///   itself.
/// - On the CPU, NAME is `extern "C" void NAME(void **arguments, int first, int last, int columns)`
///   with pointers to the same arguments. It computes the rows [first, last) of [0, height + lead
///   Y), with columns = width + lead X. Different bands of rows may run at the same time.
/// - copy takes two Planes (origin 0), blocks of 32 x 8 threads and tiles of the same size, lead 0.
/// - -DGSWO_BORDER=0..4 says what windows read outside the images: the nearest pixel, mirror (c b |
///   a b c), reflect (b a | a b c), wrap, or -DGSWO_BORDER_VALUE.
///
/// ## Compiling it with our own headers only
///
/// The file includes gswo_rt.h and the C and C++ library headers that the user includes. Where
/// these are not available, as in NVRTC, kernels/gswo/library.h replaces them, and the text goes
/// into a namespace:
///
///     #include "gswo/library.h"
///     #include "gswo_rt.h"
///     namespace std { GSWO_USE_LIBRARY }
///     namespace gswo_user { GSWO_USE_LIBRARY
///     ... the file, for which the user's headers are empty texts ...
///     }
///
/// Its functions are extern "C", so their names are still plain.
#pragma once
#include "gswo/chain.h"

namespace cudascan::gswo {

constexpr int kManifestVersion = 1;

/// The whole kernel output.
std::string kernel_file(const Unit &, const std::vector<std::unique_ptr<Kernel>> &,
                        const std::vector<Chain> &);

/// The user's file with `replaced` instead of the functions with windows, and without the parts
/// that a kernel can't have or does not need.
/// @param host  keep everything, for the stand-alone output
std::string edited_file(const Unit &, const std::vector<std::unique_ptr<Kernel>> &,
                        const std::map<const clang::FunctionDecl *, std::string> &replaced,
                        bool host);

/// A function with its `extern "C"`, if that applies to this function alone.
std::optional<Range> range_of(const Unit &, const clang::FunctionDecl *);
/// Generated text that replaces a function, even inside the braces of `extern "C"`.
std::string with_linkage(const clang::FunctionDecl *, const std::string &text);

/// Replaces kHere by #line directives for the output.
std::string number_lines(const Options &, const std::string &text);

/// Copies of helper functions that kernels of `function` need and that are not yet in `done`.
std::string clones_text(const std::vector<std::unique_ptr<Kernel>> &,
                        const clang::FunctionDecl *function, std::set<std::string> &done);

}  // namespace cudascan::gswo
