// SPDX-License-Identifier: LGPL-2.1-or-later
// Which pixels of an image windows set: whether they do on every path, and where.
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

#include <algorithm>

#include "gswo/kernel.h"

namespace cudascan::gswo {

using namespace clang;

namespace {

void has_continue(const Stmt *s, bool &ended) {
  if (!s || isa<ForStmt>(s) || isa<WhileStmt>(s) || isa<DoStmt>(s)) return;
  ended |= isa<ContinueStmt>(s);
  for (const Stmt *child : s->children()) has_continue(child, ended);
}

/// What a statement sets by '='.
const Expr *target_of(const Stmt *s) {
  const auto *e = dyn_cast<Expr>(s);
  if (const auto *full = dyn_cast_or_null<ExprWithCleanups>(e)) e = full->getSubExpr();
  if (!e) return nullptr;
  e = e->IgnoreParenImpCasts();
  if (const auto *call = dyn_cast<CXXOperatorCallExpr>(e))
    return call->getOperator() == OO_Equal ? call->getArg(0) : nullptr;
  const auto *set = dyn_cast<BinaryOperator>(e);
  return set && set->getOpcode() == BO_Assign ? set->getLHS() : nullptr;
}

/// Whether each path through a statement sets the image with '='. `ended`: there may have been a
/// 'continue'.
bool sets(const Stmt *s, const Image &image, bool &ended) {
  if (!s || ended) return false;
  if (isa<ContinueStmt>(s)) return ended = true, false;
  if (const auto *block = dyn_cast<CompoundStmt>(s)) {
    for (const Stmt *child : block->body())
      if (sets(child, image, ended)) return true;
    return false;
  }
  if (const auto *choice = dyn_cast<IfStmt>(s)) {
    const bool yes = sets(choice->getThen(), image, ended);
    const bool no = sets(choice->getElse(), image, ended);
    return yes && no;
  }
  if (const auto *expression = dyn_cast<Expr>(s)) {
    const Expr *target = target_of(expression);
    const DeclRefExpr *name = target ? base_of(target) : nullptr;
    return name && name->getDecl() == image.variable;
  }
  for (const Stmt *child : s->children()) has_continue(child, ended);
  return false;
}

/// Whether the window sets all members of its pixel one by one, and never reads it.
bool sets_members(const Kernel &kernel, const Image &image) {
  if (!image.record) return false;
  for (const Subscript &s : kernel.window.subscripts)
    if (s.array == image.variable && s.access.read) return false;
  std::set<const ValueDecl *> set;
  bool ended = false;
  const auto *block = dyn_cast<CompoundStmt>(kernel.body);
  if (!block) return false;
  for (const Stmt *child : block->body()) {
    const Expr *target = target_of(child);
    const auto *member = target ? dyn_cast<MemberExpr>(bare(target)) : nullptr;
    const DeclRefExpr *name = member ? base_of(member->getBase()) : nullptr;
    if (name && name->getDecl() == image.variable) set.insert(member->getMemberDecl());
    has_continue(child, ended);
    if (ended) return false;
  }
  return std::all_of(image.record->field_begin(), image.record->field_end(),
                     [&](const FieldDecl *f) { return set.count(f); });
}

}  // namespace

bool always_sets(const Kernel &kernel, const Image &image) {
  bool ended = false;
  return sets(kernel.body, image, ended) || sets_members(kernel, image);
}

std::string pixels_left_out(const Unit &unit, const Kernel &kernel, const Image &image) {
  const auto margins = kernel.margins(unit);
  if (!margins || !image.sets_each_pixel()) return "some pixels of '" + image.name + "'";
  if (margins->empty()) return "";
  return "pixels at the edges of '" + image.name + "' (rows: " + std::to_string(margins->above) +
         " above, " + std::to_string(margins->below) +
         " below; columns: " + std::to_string(margins->left) + " on the left, " +
         std::to_string(margins->right) + " on the right)";
}

void note_left_out(const Unit &unit, const Kernel &kernel, const Image &image,
                   const std::string &source) {
  unit.source.note(kernel.pragma->begin,
                   "the loops leave out " + pixels_left_out(unit, kernel, image) + "; these " +
                       (source.empty() ? "are 0" : "are those of '" + source + "'"));
}

}  // namespace cudascan::gswo
