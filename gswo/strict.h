// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Which files may be read, and `--strict`: windows whose loops end and that use only their own
/// file and arithmetic. docs/gswo.md says what it promises.
#pragma once
#include <memory>
#include <vector>

#include "gswo/kernel.h"

namespace cudascan::gswo {

/// Refuses included files that are not in the system's include folders. If strict, also refuses
/// non-mathematical headers and conditions that compilers may evaluate differently. It uses Clang's
/// preprocessor, so it sees every way to include a file; contents of files are never shown.
void check_files(Source &, const Options &, const Annotations &);

/// `--strict`: refuses code that could hang or use anything outside the file.
void check_strict(const Unit &, const std::vector<std::unique_ptr<Kernel>> &);

// Its steps:
/// Refuses text that compilers may read differently: reserved names, joined names, attributes,
/// compiler pragmas, unusual line ends. Then Clang and other compilers see the same file. Also
/// refuses macros that could have another meaning at the place where generated code uses the text.
void check_text(Source &, const Annotations &);

/// Variables that the code around a loop may change in ways the loop does not show.
struct Aliased {
  std::set<const clang::VarDecl *> variables;
  /// Adds the variables of a statement that are passed or bound by reference, or written in a
  /// lambda that captured them.
  void add(const Unit &, const clang::Stmt *);
};
/// Why a loop may not end, or "". It does not cover bounds near the limits of types of 32 or more
/// bits.
std::string why_endless(const Unit &, const Loop &, const Aliased &);

}  // namespace cudascan::gswo
