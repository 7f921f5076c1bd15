// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Indices as linear forms, from which the extent of a window follows.
///
/// The value of an integer expression in a window is written as a sum of coefficients times symbols plus
/// an interval. Symbols are the loop variables of the window's place, and values that are fixed during
/// these loops; the variables of inner loops take the interval of their values. So `y + dy - 1` with dy
/// from -2 to 2 becomes y + [-3, 1]. This is interval arithmetic on affine forms with integers of up to 30
/// bits; what leaves these is unknown.
#pragma once
#include <map>
#include <set>

#include "gswo/window_body.h"

namespace cudascan::gswo {

struct LinearForm {
  std::map<const clang::VarDecl *, long> terms;
  long low = 0, high = 0;
  bool clamped = false;  ///< cut off at a border by hand: low..high is where it was before

  static LinearForm number(long value) { return {{}, value, value, false}; }
  static LinearForm symbol(const clang::VarDecl *variable) {
    return {{{variable, 1}}, 0, 0, false};
  }

  bool is_constant() const { return terms.empty(); }
  bool is_number() const { return terms.empty() && low == high; }
  /// Whether it is 1 * variable + an interval.
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
  /// All have to live as long as this.
  /// @param nest       the loops over the windows
  /// @param constants  whether parameters have the values that --set gives them
  Evaluator(const Unit &unit, const std::vector<Loop> &nest, const WindowBody &body,
            bool constants = true)
      : unit_(unit), nest_(nest), body_(body), constants_(constants) {}

  MaybeForm operator()(const clang::Expr *);
  /// How often a loop runs at most, if that is known.
  std::optional<long> most_turns(const Loop &);
  /// How often a loop runs, if that is always the same known number.
  std::optional<long> turns(const Loop &);
  /// Whether a value changes from window to window, also through other variables.
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
