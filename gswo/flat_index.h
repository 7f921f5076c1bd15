// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Images in one array: tells rows and columns apart in subscripts such as
/// `[row * width + column]`.
#pragma once
#include <optional>

#include "gswo/kernel.h"

namespace cudascan::gswo {

/// A term of a sum, with its sign.
struct Term {
  const clang::Expr *value;
  int sign;
};

/// An index split into row * stride + column.
struct Split {
  std::string stride;
  const clang::VarDecl *stride_variable = nullptr;
  std::vector<Term> row, column;
};

class FlatIndex {
 public:
  FlatIndex(const Unit &unit, const Kernel &kernel, Evaluator &value)
      : unit_(unit), kernel_(kernel), value_(value) {}

  /// @param of_volume  the row is slice * height + row, and will be split again
  std::optional<Split> split(const clang::Expr *index, bool of_volume);
  std::optional<Split> split(const std::vector<Term> &sum, bool of_volume = false);
  MaybeForm sum(const std::vector<Term> &terms);

 private:
  /// Whether the factors in products that move with the window are constants.
  bool is_affine(const clang::Stmt *);

  const Unit &unit_;
  const Kernel &kernel_;
  Evaluator &value_;
};

}  // namespace cudascan::gswo
