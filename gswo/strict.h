// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What files may be read, and `--strict`: windows whose loops end and that use nothing but their
/// file and arithmetic. docs/gswo.md says what it promises.
#pragma once
#include <memory>
#include <vector>

#include "gswo/kernel.h"

namespace cudascan::gswo {

/// Refuses files that are included from elsewhere than the include folders of the system and, if
/// strict, headers without mathematics, and conditions that compilers may answer differently. It
/// asks Clang's preprocessor, so that every way to include a file counts; what is in the files is
/// never shown.
void check_files(Source &, const Options &, const Annotations &);

/// `--strict`: refuses what could hang or leave the file.
void check_strict(const Unit &, const std::vector<std::unique_ptr<Kernel>> &);

// The steps of that:
/// Refuses text that compilers may read differently: names that are reserved for them, joined
/// names, attributes, pragmas of theirs, odd ends of lines. What Clang sees of a file is then what
/// others see. Refuses macros that could mean something else where generated code has the text.
void check_text(Source &, const Annotations &);

/// Variables whose values the code around a loop may change behind its back.
struct Aliased {
  std::set<const clang::VarDecl *> variables;
  /// Adds those of a statement: passed or bound by reference, or written in a lambda that captured
  /// them.
  void add(const Unit &, const clang::Stmt *);
};
/// Why a loop may not end, or "". What that leaves open are bounds near the ends of types of 32
/// bits and more.
std::string why_endless(const Unit &, const Loop &, const Aliased &);

}  // namespace cudascan::gswo
