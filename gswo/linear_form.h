// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Writes indices as linear forms to find the extent of a window.
///
/// The value of an integer expression in a window is written as a sum of coefficients times symbols
/// plus an interval. Symbols are the loop variables of the window's position and values that are
/// fixed during these loops. Variables of inner loops are replaced by the interval of their values.
/// So `y + dy - 1` with dy from -2 to 2 becomes y + [-3, 1]. This is interval arithmetic on affine
/// forms with integers of up to 30 bits; beyond that the result is unknown.
#pragma once
#include <map>
#include <set>

#include "gswo/window_body.h"

namespace cudascan::gswo {

struct LinearForm {
  std::map<const clang::VarDecl *, long> terms;
  long low = 0, high = 0;
  bool clamped = false;  ///< clamped by hand at a border; low..high is the range before that

  static LinearForm number(long value) { return {{}, value, value, false}; }
  static LinearForm symbol(const clang::VarDecl *variable) {
    return {{{variable, 1}}, 0, 0, false};
  }

  bool is_constant() const { return terms.empty(); }
  bool is_number() const { return terms.empty() && low == high; }
  /// Whether the form is 1 * variable + an interval.
  bool follows(const clang::VarDecl *variable) const {
    return terms.size() == 1 && terms.begin()->first == variable && terms.begin()->second == 1;
  }
  friend bool operator==(const LinearForm &a, const LinearForm &b) {
    return a.terms == b.terms && a.low == b.low && a.high == b.high;
  }
};

using MaybeForm = std::optional<LinearForm>;

/// a + factor * b; unknown if a number leaves 30 bits.
MaybeForm plus(const MaybeForm &a, const MaybeForm &b, long factor = 1);

/// Evaluates expressions of one window.
class Evaluator {
 public:
  /// All arguments must outlive this object.
  /// @param nest       the loops over the windows
  /// @param constants  whether parameters have the values that --set gives them
  Evaluator(const Unit &unit, const std::vector<Loop> &nest, const WindowBody &body,
            bool constants = true)
      : unit_(unit), nest_(nest), body_(body), constants_(constants) {}

  MaybeForm operator()(const clang::Expr *);
  /// Largest number of iterations of a loop, if known.
  std::optional<long> most_turns(const Loop &);
  /// Number of iterations of a loop, if it is constant and known.
  std::optional<long> turns(const Loop &);
  /// Whether a value changes from window to window, directly or through other variables.
  bool depends_on_nest(const clang::Stmt *, int depth = 0) const;

 private:
  MaybeForm call(const clang::CallExpr *);
  MaybeForm conditional(const clang::ConditionalOperator *);
  MaybeForm name(const clang::DeclRefExpr *);
  MaybeForm binary(const clang::BinaryOperator *);
  MaybeForm values_of(const Loop &);
  MaybeForm way(const Loop &);
  MaybeForm set_values(const clang::VarDecl *);
  MaybeForm clamp(MaybeForm value, MaybeForm bound, bool from_below);
  int guard(const clang::Expr *value, const clang::VarDecl *);
  const Loop *loop_around(const clang::DeclRefExpr *, const clang::VarDecl *) const;

  const Unit &unit_;
  const std::vector<Loop> &nest_;
  const WindowBody &body_;
  const bool constants_;
  std::set<const clang::VarDecl *> visiting_;
};

}  // namespace cudascan::gswo
