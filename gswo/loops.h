// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Loops whose values can be predicted: `for (i = a; i < b; i += c)`, with `<`, `<=`, `>`, `>=` or
/// `!=`, and i declared in the loop or before it.
#pragma once
#include <clang/AST/Stmt.h>

#include <optional>
#include <string>

#include "gswo/unit.h"

namespace cudascan::gswo {

struct Loop {
  const clang::ForStmt *statement = nullptr;
  const clang::VarDecl *variable = nullptr;
  const clang::Expr *first = nullptr, *bound = nullptr;
  long step = 0;
  /// How variable and bound compare while the loop continues: BO_LT, BO_LE, BO_GT or BO_GE.
  clang::BinaryOperatorKind relation = clang::BO_LT;
  bool not_equal = false;  ///< `!=` was written

  bool upwards() const { return step > 0; }
  /// Whether the loop includes its bound.
  bool inclusive() const { return relation == clang::BO_LE || relation == clang::BO_GE; }
};

/// Reads a loop; if it is not of this form, sets `why` to the reason.
std::optional<Loop> read_loop(const clang::ForStmt *, const clang::ASTContext &, std::string &why);

/// The condition under which the loop continues. It is false everywhere past the end.
std::string condition(const Unit &, const Loop &);

}  // namespace cudascan::gswo
