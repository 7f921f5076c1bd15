// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Loops that sort an array of a window.
#pragma once
#include <clang/AST/StmtCXX.h>

#include "gswo/kernel.h"

namespace cudascan::gswo {

/// Most numbers for which a sorting network is short enough.
constexpr long kMostSorted = 81;

/// Loops that sort the first `sorted` of `numbers` numbers.
struct Sort {
  const clang::ForStmt *statement;
  const clang::VarDecl *array;
  long numbers, sorted;
  /// If the loops also fill the array: what sets an element without sorting.
  std::optional<Edit> fill;
};

/// An element of an array: array[variable + offset].
struct Element {
  const clang::VarDecl *array = nullptr, *variable = nullptr;
  long offset = 0;
  friend bool operator==(const Element &, const Element &) = default;
};

/// Reads the parts that sorts have in common.
class SortReader {
 public:
  SortReader(const Unit &unit, const Kernel &kernel)
      : unit_(unit), kernel_(kernel), value_(unit, kernel.nest, kernel.window) {}

 protected:
  /// A loop that counts upwards by one in its own variable.
  std::optional<Loop> loop(const clang::Stmt *) const;
  /// The largest value of the loop's variable.
  std::optional<long> last_of(const Loop &);
  bool is_number(const clang::Expr *, long number);
  /// The element of an array of the window, of integers; floating-point numbers may be NaN or have
  /// two zeros. Else all is null.
  Element element(const clang::Expr *) const;
  /// If it is known, and not much more than kMostSorted.
  std::optional<long> size_of(const clang::VarDecl *array);
  /// Whether a type holds all numbers of an array's elements.
  bool holds_all(clang::QualType, const clang::VarDecl *array) const;
  /// `t = a; a = b; b = t;` with a t of its own, or swap(a, b).
  bool swaps(const clang::Stmt *, const Element &a, const Element &b) const;

  const Unit &unit_;
  const Kernel &kernel_;
  Evaluator value_;
};

/// Adds insertion sorts: those of an array that is full, and those of numbers as they come.
void find_insertions(const Unit &, const Kernel &, std::vector<Sort> &);

/// The one statement of a block, or the statement itself.
const clang::Stmt *only(const clang::Stmt *);
/// The operands of `a = b`, or nulls.
std::pair<const clang::Expr *, const clang::Expr *> assigned(const clang::Stmt *);
/// The one variable that a statement declares, which is not static, or null.
const clang::VarDecl *declared(const clang::Stmt *);

}  // namespace cudascan::gswo
