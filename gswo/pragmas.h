// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The pragmas of the GSWO model (Yang et al., "GSWO: A programming model for GPU-enabled
/// parallelization of sliding window operations in image processing", 2016, Table 5), found in the
/// tokens of the file before anything is parsed.
///
/// Words are not case sensitive. Each may have the prefix `gswo`, to tell `#pragma gswo for` from
/// the pragmas of other tools:
///
///     parallel region [scratch(image, ...)]
///     parallel
///     for [nest(2 | 3)] [tile(tx, ty[, tz])] [chunksize(cx, cy[, cz])]
///         [reduction(op: variable, table[:n], ...)]
///     single initialisation | initialization | transfer | remain | assign
///     copyByTexture(D, toDevice, N, M, Bind, type)
///     copyMalloc1DArray(W, toDevice, I, J, pitch [, InKernel])
///     copyMemcpy2D(W, HosttoDevice | Device to Host, I, J, pitch, W_1D)
///     copyMemcpy2DToArray(W, DevicetoDevice, I, J, pitch)
///     copyBindTexture(W, DevicetoDevice, W, type, Bind)
///     copy2DArrayTo1DArray(W, toHost, I, J, W_1D, 2DTo1D | 1DTo2D)
///
/// The brace of a block may end the line of its pragma, as in the listings of the paper. Directives
/// between `#if 0` and its end are ignored.
#pragma once
#include <clang/Basic/TokenKinds.h>

#include <array>
#include <string>
#include <vector>

#include "gswo/source.h"

namespace cudascan::gswo {

struct Token {
  unsigned begin, end;  ///< bytes of the file
  bool line_start;      ///< the first one of its line
  clang::tok::TokenKind kind;
  bool directive = false;  ///< part of a preprocessor directive
};

enum class PragmaKind { region, parallel, loop, initialisation, transfer, remain, assign, memory };

/// A variable of the host, or the first elements of a table, that windows add to. The clause is
/// that of OpenMP and OpenACC.
struct ReductionClause {
  std::string operation;  ///< + & | ^ && || min max
  std::string name;
  std::string length;  ///< of a table, as written; empty = not given
};

struct Pragma {
  PragmaKind kind = PragmaKind::loop;
  std::string name;  ///< of memory pragmas, in lower case
  unsigned begin = 0,
           end = 0;     ///< from '#' to the end of the directive, without a brace at its end
  unsigned open = 0;    ///< first byte of its block or statement; 0 if it has none
  unsigned close = 0;   ///< last byte of that
  bool braces = false;  ///< `open` and `close` are braces
  int nest = 2;         ///< loops, of loop
  std::array<int, 3> tile{}, chunk{};       ///< columns, rows, slices, of loop; 0 = not given
  std::vector<std::string> arguments;       ///< of memory
  std::vector<std::string> scratch;         ///< images, of region
  std::vector<ReductionClause> reductions;  ///< of loop

  bool holds(unsigned offset) const { return open < offset && offset < close; }
  /// Its name in comments.
  const char *title() const;
};

struct Annotations {
  std::vector<Token> tokens;
  std::vector<Pragma> pragmas;  ///< in the order of the file
  /// The file with blanks in place of the pragmas, all other bytes unmoved: ordinary C or C++. The
  /// braces of `single initialisation` are gone, so that its declarations reach the loops.
  std::string plain;
};

/// The source reports errors.
Annotations read_pragmas(Source &);

/// A `#define` or `#undef`.
struct MacroLine {
  unsigned begin, end;  ///< bytes of the file, from the '#'
  bool defines;
  std::string name;
};
/// All of the file, including those that a condition excludes.
std::vector<MacroLine> macro_lines(const Source &, const Annotations &);

/// A token without line continuations.
std::string spelling(const Source &, const Token &);

}  // namespace cudascan::gswo
