// SPDX-License-Identifier: LGPL-2.1-or-later
// `--strict`: loops that end.

#include "gswo/ast_walker.h"
#include "gswo/strict.h"

namespace cudascan::gswo {

using namespace clang;

namespace {

/// Narrower types wrap around before a loop would count as endless.
constexpr unsigned kLongEnough = 32;

class CapturedWrites : public AstWalker {
 public:
  std::set<const DeclRefExpr *> captured;
  bool VisitDeclRefExpr(DeclRefExpr *name) override {
    if (name->refersToEnclosingVariableOrCapture()) captured.insert(name);
    return true;
  }
};

/// 128 bits hold every sum of values of the types that are compared.
using Wide = __int128;

Wide wide(const llvm::APSInt &value) {
  return value.isSigned() ? static_cast<Wide>(value.getSExtValue())
                          : static_cast<Wide>(value.getZExtValue());
}

std::optional<Wide> value_of(const Expr *e, const ASTContext &ast) {
  Expr::EvalResult result;
  if (e->isValueDependent() || !e->getType()->isIntegerType() || !e->EvaluateAsInt(result, ast) ||
      result.Val.getInt().getBitWidth() > 64)
    return {};
  return wide(result.Val.getInt());
}

/// Why a loop whose bound is known at compile time may not end.
std::string with_known_bound(const Loop &loop, Wide bound, std::optional<Wide> first, Wide least,
                             Wide most) {
  if (loop.not_equal) {
    const Wide way = first ? bound - *first : 0;
    if (first ? way % loop.step != 0 || (way != 0 && (way > 0) != loop.upwards())
              : loop.step != 1 && loop.step != -1)
      return "it steps past " + std::string("its bound; compare with '<' or '>'");
    return bound < least || bound > most ? "its variable never has the value of its bound" : "";
  }
  // The first value that ends it.
  const Wide end = bound + (loop.inclusive() ? loop.step
                            : loop.upwards() ? loop.step - 1
                                             : loop.step + 1);
  return end < least || end > most ? "its variable wraps around before it reaches the bound" : "";
}

std::string with_unknown_bound(const Loop &loop, unsigned bits, bool is_signed, unsigned of_bound) {
  const bool by_one = loop.step == 1 || loop.step == -1;
  if (loop.not_equal && !by_one) return "it may step past its bound; compare with '<' or '>'";
  if (of_bound > bits && bits < kLongEnough)
    return "its variable has a smaller type than its bound; make it an int";
  if (bits < kLongEnough && (loop.inclusive() || !by_one))
    return "its variable may wrap around before it reaches the bound; make it an int";
  if (!is_signed && !loop.upwards() && (loop.inclusive() || !by_one))
    return "its variable is unsigned and may wrap around at 0; make it an int";
  return "";
}

}  // namespace

void Aliased::add(const Unit &unit, const Stmt *code) {
  const WindowBody body = read_code(unit, code);
  CapturedWrites lambdas;
  lambdas.TraverseStmt(const_cast<Stmt *>(code));
  for (const Reference &r : body.references) {
    const Access access = body.access_of(r);
    if (access.escapes || (access.write && lambdas.captured.count(r.name)))
      variables.insert(r.variable);
  }
}

std::string why_endless(const Unit &unit, const Loop &loop, const Aliased &aliased) {
  const QualType type = loop.variable->getType();
  const Expr *bound = bare(loop.bound);
  if (type->isReferenceType()) return "its variable is a reference";
  if (!bound->getType()->isIntegerType()) return "its bound is not a whole number";
  std::set<const VarDecl *> fixed{loop.variable};
  for (const VarDecl *v : variables_in(loop.bound)) fixed.insert(v);
  for (const VarDecl *v : fixed) {
    if (v->getType()->isReferenceType() && !v->getType().getNonReferenceType().isConstQualified())
      return "its bound is a reference, '" + name_of(v) + "'; copy it to a variable first";
    if (aliased.variables.count(v) && !v->getType()->isPointerType())
      return "'" + name_of(v) + "' may change by a reference or in a lambda";
  }
  for (const Expr *part : {loop.bound, loop.first}) {
    const WindowBody code = read_code(unit, part);
    for (const Reference &r : code.references)
      if (code.access_of(r).write && part == loop.bound)
        return "its condition changes '" + name_of(r.variable) + "'";
  }
  const WindowBody body = read_code(unit, loop.statement->getBody());
  for (const Reference &r : body.references)
    if (fixed.count(r.variable) && body.access_of(r).write)
      return "its body changes '" + name_of(r.variable) + "'";

  const unsigned bits = unit.ast.getIntWidth(type);
  const bool is_signed = type->isSignedIntegerOrEnumerationType();
  if (bits > 64) return "its variable has an unusual type";
  if (const auto known = value_of(loop.bound, unit.ast)) {
    const Wide one = 1, most = (one << (is_signed ? bits - 1 : bits)) - 1;
    return with_known_bound(loop, *known, value_of(loop.first, unit.ast), is_signed ? -most - 1 : 0,
                            most);
  }
  return with_unknown_bound(loop, bits, is_signed, unit.ast.getIntWidth(bound->getType()));
}

}  // namespace cudascan::gswo
