// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The kernel output: one file that is the CUDA kernel (NVRTC, nvcc) and the CPU version (g++, clang++)
/// of each filter. It is compiled as C++20 without contraction of floating-point operations
/// (-fmad=false, -ffp-contract=off), so that both give the same pixels.
///
/// ## The manifest, version 1
///
/// Lines that begin with `//@gswo ` say how an element runs the filters. They stand together at the top,
/// words have one blank between them, names are those of C.
///
///     manifest  = "manifest 1" { function }
///     function  = "function" NAME { constant | scalar | unused | image } { step } "done"
///     constant  = "constant" NAME VALUE            what --set made of a parameter
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
///     swap      = "swap" IMAGE IMAGE               from here on each name stands for the other's buffer
///
/// - TYPE goes to the end of its line: an arithmetic type of C++, as `unsigned char` or `float`.
/// - Steps run in their order, those between repeat and its end again and again.
/// - repeat: COUNT + the value of SCALAR times (COUNT with "-"), if that is positive. The scalar behind
///   "turn" has the value FIRST in the first turn, then FIRST + STEP and so on.
/// - source is the frame and destination the result; the pixels of both lie in memory as GSWO_SRC_T and
///   GSWO_DST_T, which are set by -D when the file is compiled (unsigned char if not). Pixels of scratch
///   images are of the image's own type; the element gives them the size of the frame. `other` is a
///   second input, which an element can't give: refuse the function, or let the user bind it (it is read
///   as GSWO_SRC_T). source is never written, and destination is written in full.
/// - Every parameter that is no image has a line, --set makes no constants of height and width.
/// - height and width are set to the size of the frame, value to what the user says, turn by repeat. DEFAULT is the
///   default argument in the source.
/// - Arguments are in the order of the kernel's parameters. For an image a gswo::Plane is passed: the
///   address of its first pixel, bytes between rows, width, height, and `ox` = X, `oy` = Y of origin:
///   the user's indices of the first row and column. For a scalar its value, as TYPE. Y0 Y1 X0 X1 are
///   the offsets that are read around a pixel; unbounded: others as well.
/// - A kernel is launched with blocks of BX x BY threads on a grid of ceil((width + lead X) / TX) x
///   ceil((height + lead Y) / TY) blocks, and no dynamic shared memory. It checks its bounds itself.
/// - On the CPU the same name is `extern "C" void NAME(void **arguments, int first, int last, int
///   columns)` with pointers to the same arguments; it makes the rows [first, last) of the rows
///   [0, height + lead Y), with columns = width + lead X. Any bands of rows may run at the same time.
/// - copy has two Planes (origin 0), blocks of 32 x 8 threads and tiles of the same size, lead 0.
/// - -DGSWO_BORDER=0..4 says what is outside of the images: the nearest pixel, mirror (c b | a b c),
///   reflect (b a | a b c), wrap, or -DGSWO_BORDER_VALUE.
///
/// ## Compiling it with nothing but our own headers
///
/// The file includes gswo_rt.h, and the headers of the C and C++ library that the user includes. Without
/// these, as in NVRTC, kernels/gswo/library.h stands in for them, and the text goes into a namespace:
///
///     #include "gswo/library.h"
///     #include "gswo_rt.h"
///     namespace std { GSWO_USE_LIBRARY }
///     namespace gswo_user { GSWO_USE_LIBRARY
///     ... the file, for which the user's headers are empty texts ...
///     }
///
/// Its functions are extern "C", so they are found by their plain names all the same.
#pragma once
#include "gswo/chain.h"

namespace cudascan::gswo {

constexpr int kManifestVersion = 1;

/// The whole kernel output.
std::string kernel_file(const Unit &, const std::vector<std::unique_ptr<Kernel>> &,
                        const std::vector<Chain> &);

/// The user's file with the functions `replaced` in place of those with windows, and what can't or
/// need not be in a kernel left out.
/// @param host  keep everything, for the stand-alone output
std::string edited_file(const Unit &, const std::vector<std::unique_ptr<Kernel>> &,
                        const std::map<const clang::FunctionDecl *, std::string> &replaced,
                        bool host);

/// A function with its `extern "C"`, if that stands in front of it alone.
std::optional<Range> range_of(const Unit &, const clang::FunctionDecl *);
/// Generated text in place of a function, also where that stands between the braces of `extern "C"`.
std::string with_linkage(const clang::FunctionDecl *, const std::string &text);

/// Puts the lines of the output in place of kHere.
std::string number_lines(const Options &, const std::string &text);

/// Copies of helper functions that kernels of `function` need and that are not in `done` yet.
std::string clones_text(const std::vector<std::unique_ptr<Kernel>> &,
                        const clang::FunctionDecl *function, std::set<std::string> &done);

}  // namespace cudascan::gswo
