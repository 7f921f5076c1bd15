// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Analyses what the code of a window does with its variables.
#pragma once
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

#include <map>
#include <set>
#include <vector>

#include "gswo/loops.h"

namespace cudascan::gswo {

/// What an expression is used for.
struct Access {
  bool read = false, write = false;
  bool escapes = false;  ///< its address is taken, or it is passed by reference
  bool plain = false;    ///< it is set by '=' alone
  bool part = false;     ///< a member of it
};

/// A complete subscript expression: `a[i]`, `a[i][j]`, ...
struct Subscript {
  const clang::ArraySubscriptExpr *expression;
  const clang::DeclRefExpr *name;
  const clang::VarDecl *array;
  std::vector<const clang::Expr *> indices;
  Access access;
};

struct Reference {
  const clang::DeclRefExpr *name;
  const clang::VarDecl *variable;
  Access access;
};

struct WindowBody {
  // all in the order of evaluation, as far as the text determines it
  std::vector<Subscript> subscripts;
  std::vector<Reference> references;
  std::vector<const clang::Expr *> calls;  ///< calls and constructions
  std::vector<const clang::ForStmt *> loops;
  std::vector<const clang::BinaryOperator *> assignments;
  std::vector<const clang::Expr *> dereferences;
  std::vector<const clang::Stmt *> exits;      ///< return, goto
  std::vector<const clang::Stmt *> breaks;     ///< that end the loop over the windows
  std::vector<const clang::Stmt *> continues;  ///< that end this window
  std::set<const clang::VarDecl *> own;        ///< declared here
  /// The values that variables are set to, except by the loops of `ranges`.
  std::map<const clang::VarDecl *, std::vector<const clang::Expr *>> definitions;
  /// The loops whose variable it is.
  std::map<const clang::VarDecl *, std::vector<Loop>> ranges;
  std::set<const clang::VarDecl *> opaque;  ///< changed in ways that are not analysed
  /// Set by the function outside the window, except in their declaration.
  std::set<const clang::VarDecl *> set_outside;
  /// Declared under `single initialisation`: every window has its own.
  std::set<const clang::VarDecl *> initialised;

  /// What the body does with a variable, or with an array's elements.
  Access access_of(const Reference &) const;
};

/// Reads the window `body` of a function.
WindowBody read_window(const Unit &, const clang::Stmt *body, const clang::FunctionDecl *);
/// Reads code that is not a window.
WindowBody read_code(const Unit &, const clang::Stmt *);

/// The variables named in a statement.
std::vector<const clang::VarDecl *> variables_in(const clang::Stmt *);

}  // namespace cudascan::gswo
