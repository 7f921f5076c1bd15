// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The parsed file: answers the translator's questions about places, text and types.
#pragma once
#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/Basic/SourceManager.h>

#include <optional>
#include <set>
#include <string>

#include "gswo/options.h"
#include "gswo/pragmas.h"
#include "gswo/source.h"

namespace cudascan::gswo {

/// Bytes [begin, end) of the user's file.
struct Range {
  unsigned begin, end;
};

struct Unit {
  const Options &options;
  Source &source;
  const Annotations &notes;
  clang::ASTContext &ast;
  clang::SourceManager &files;
  /// Parameters that bound the loops over the images. --set cannot make them constant: the element
  /// sets them to the size of its frames.
  std::set<const clang::VarDecl *> sizes;

  /// The constant that --set gives a parameter, or nullptr.
  const Constant *constant(const clang::VarDecl *) const;

  /// Where something is typed in the user's file; nothing for the text of a macro. Text in a
  /// macro's argument counts as typed.
  std::optional<unsigned> typed(clang::SourceLocation) const;
  std::optional<Range> typed(clang::SourceRange) const;
  /// The range of a statement, with the macros that it comes from and the ';' after it.
  std::optional<Range> extent(const clang::Stmt *) const;
  /// The place of something; for the text of a macro, where it is used. 0 in other files.
  unsigned place(clang::SourceLocation) const;
  template <typename Node>
  unsigned place(const Node *node) const {
    return place(node->getBeginLoc());
  }
  bool in_file(clang::SourceLocation) const;
  /// The text as typed, with the names of macros.
  std::string text(const clang::Stmt *) const;
  std::string text(Range) const;

  /// The name of a type in C++, without const at its top.
  std::string type_name(clang::QualType) const;
  /// A declaration without its value: `float v[9]`.
  std::string declaration(clang::QualType, const std::string &name) const;
  bool is_constant(clang::QualType) const;

  void error(unsigned at, const std::string &message) const { source.error(at, message); }
};

/// The expression without parentheses and implicit conversions.
const clang::Expr *bare(const clang::Expr *);
/// The variable that an expression names, or nullptr.
const clang::VarDecl *variable_of(const clang::Expr *);
/// The variable at the beginning of an array expression `a[i][j]`, or nullptr.
const clang::DeclRefExpr *base_of(const clang::Expr *);
/// The value of a constant of up to 30 bits.
std::optional<long> constant_of(const clang::Expr *, const clang::ASTContext &);
std::string name_of(const clang::VarDecl *);

}  // namespace cudascan::gswo
