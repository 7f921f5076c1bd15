// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gswo/touches.h"

#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

#include <algorithm>

#include "gswo/ast_walker.h"

namespace cudascan::gswo {

using namespace clang;

namespace {

/// Collects what a statement does.
class Reader : public AstWalker {
 public:
  Reader(Touches &touches, const Unit &unit) : touches_(touches), unit_(unit) {}

  Touch touch = Touch::nothing;

  // ---- Access to memory

  bool VisitImplicitCastExpr(ImplicitCastExpr *e) override {
    if (e->getCastKind() == CK_LValueToRValue) read_.insert(e->getSubExpr()->IgnoreParens());
    return true;
  }
  bool VisitUnaryOperator(UnaryOperator *e) override {
    if (e->getOpcode() == UO_AddrOf) unused_.insert(e->getSubExpr()->IgnoreParens());
    if (e->getOpcode() == UO_Deref) access(e);
    return true;
  }
  bool VisitArraySubscriptExpr(ArraySubscriptExpr *e) override {
    const DeclRefExpr *base = base_of(e);
    const bool table = base && base->getDecl()->getType()->isArrayType() &&
                       unit_.is_constant(base->getDecl()->getType());
    if (!table) access(e);
    return true;
  }
  bool VisitMemberExpr(MemberExpr *e) override {
    if (!isa<FieldDecl>(e->getMemberDecl())) return true;
    const Expr *base = e->getBase()->IgnoreParenImpCasts();
    // The type of the member decides, not that of the object.
    unused_.insert(base);
    if (e->isArrow() || !isa<DeclRefExpr>(base)) access(e);
    return true;
  }
  bool VisitDeclRefExpr(DeclRefExpr *e) override {
    const ValueDecl *d = e->getDecl();
    if (isa<BindingDecl>(d) || (isa<VarDecl>(d) && d->getType()->isReferenceType())) access(e);
    return true;
  }
  // Its operand is not evaluated.
  bool TraverseUnaryExprOrTypeTraitExpr(UnaryExprOrTypeTraitExpr *, Queue *) override {
    return true;
  }

  bool VisitCXXForRangeStmt(CXXForRangeStmt *s) override {
    const auto *record = s->getRangeInit()->getType().getNonReferenceType()->getAsCXXRecordDecl();
    if (record && !is_standard(*record)) add(Touch::changes);
    return !may_be_pixel(s->getLoopVariable()->getType()) || add(Touch::reads);
  }

  // ---- Calls

  bool VisitCallExpr(CallExpr *call) override {
    const FunctionDecl *f = call->getDirectCallee();
    return add(f ? of_call(*f, {call->getArgs(), call->getNumArgs()}) : Touch::changes);
  }
  bool VisitCXXConstructExpr(CXXConstructExpr *e) override {
    const CXXConstructorDecl *f = e->getConstructor();
    return f->isTrivial() || add(of_call(*f, {e->getArgs(), e->getNumArgs()}));
  }
  bool VisitCXXDefaultArgExpr(CXXDefaultArgExpr *e) override {
    return add(touches_.of(e->getExpr()));
  }
  bool VisitCXXDefaultInitExpr(CXXDefaultInitExpr *e) override {
    return add(touches_.of(e->getExpr()));
  }
  bool VisitCXXBindTemporaryExpr(CXXBindTemporaryExpr *e) override {
    return destroys(e->getTemporary()->getDestructor());
  }
  bool VisitVarDecl(VarDecl *v) override {
    const auto *record = v->getType()->getBaseElementTypeUnsafe()->getAsCXXRecordDecl();
    return !record || record->hasTrivialDestructor() || destroys(record->getDestructor());
  }
  bool VisitLambdaExpr(LambdaExpr *) override { return add(Touch::changes); }
  bool VisitCXXDeleteExpr(CXXDeleteExpr *) override { return add(Touch::changes); }
  bool VisitAsmStmt(AsmStmt *) override { return add(Touch::changes); }
  bool VisitStmtExpr(StmtExpr *) override { return add(Touch::changes); }

 private:
  bool add(Touch more) {
    touch = std::max(touch, more);
    return true;
  }

  void access(const Expr *e) {
    const QualType type = e->getType().getNonReferenceType();
    if (unused_.count(e) || type->isArrayType() || type->isFunctionType() ||
        !touches_.may_be_pixel(type))
      return;
    add(read_.count(e) ? Touch::reads : Touch::changes);
  }

  bool may_be_pixel(QualType type) const { return touches_.may_be_pixel(type); }

  /// An object that ends within a statement. Objects of the standard library free only memory of
  /// their own.
  bool destroys(const CXXDestructorDecl *f) {
    return (f && is_standard(*f)) || add(f ? touches_.of(f) : Touch::changes);
  }

  static bool is_standard(const Decl &d) {
    if (d.isInStdNamespace()) return true;
    for (const DeclContext *c = d.getDeclContext(); c; c = c->getParent())
      if (c->isStdNamespace()) return true;
    return false;
  }

  /// Whether a function of the standard library can't reach pixels through an argument. What the
  /// argument itself does is seen elsewhere.
  static bool is_harmless(const Expr *e) {
    e = e->IgnoreParenImpCasts();
    const QualType type = e->getType().getNonReferenceType();
    if (type->isArithmeticType() || type->isEnumeralType() || type->isNullPtrType()) return true;
    if (isa<clang::StringLiteral>(e) || isa<CXXDefaultArgExpr>(e)) return true;
    if (const auto *name = dyn_cast<DeclRefExpr>(e); name && isa<FunctionDecl>(name->getDecl()))
      return is_standard(*name->getDecl());
    const auto *record = type->getAsCXXRecordDecl();
    return record && is_harmless(*record);
  }
  /// Streams, and times of <chrono>.
  static bool is_harmless(const CXXRecordDecl &record) {
    if (record.getNameAsString() == "basic_ostream") return true;
    for (const DeclContext *c = record.getDeclContext(); c; c = c->getParent())
      if (const auto *space = dyn_cast<NamespaceDecl>(c);
          space && space->getNameAsString() == "chrono")
        return true;
    return false;
  }

  Touch of_call(const FunctionDecl &f, llvm::ArrayRef<Expr *> arguments) {
    // Other functions might call back.
    if (!f.getBuiltinID() && !is_standard(f)) return touches_.of(&f);
    const std::string name = f.getNameAsString();
    const auto *method = dyn_cast<CXXMethodDecl>(&f);
    if (method && !method->isStatic() && !isa<CXXConstructorDecl>(f)) {
      if (name == "data" || name == "size" || name == "empty") return Touch::nothing;
      if (!is_harmless(*method->getParent())) return Touch::changes;
    }
    // Exchanging pointers does not move pixels.
    const bool moves = name == "swap" || name == "exchange" || name == "move" || name == "forward";
    const bool good = std::all_of(arguments.begin(), arguments.end(), [&](const Expr *e) {
      return is_harmless(e) || (moves && variable_of(e) && e->getType()->isPointerType());
    });
    return good ? Touch::nothing : Touch::changes;
  }

  Touches &touches_;
  const Unit &unit_;
  std::set<const Expr *> read_, unused_;
};

/// Whether a statement calls one of some functions.
class Caller : public AstWalker {
 public:
  explicit Caller(const std::set<const FunctionDecl *> &functions) : functions_(functions) {}
  bool VisitCallExpr(CallExpr *call) override {
    const FunctionDecl *f = call->getDirectCallee();
    found |= f && functions_.count(f->getCanonicalDecl());
    return true;
  }
  bool found = false;

 private:
  const std::set<const FunctionDecl *> &functions_;
};

}  // namespace

std::string pixel_name(std::string type) {
  for (const std::string sign : {"unsigned ", "signed "})
    if (type.rfind(sign, 0) == 0) type.erase(0, sign.size());
  return type;
}

bool Touches::may_be_pixel(QualType type) const {
  type = type.getNonReferenceType().getCanonicalType();
  if (type->isPointerType() || type->isNullPtrType()) return false;
  return type->isDependentType() || !type->isArithmeticType() || type->isCharType() ||
         pixels_.count(pixel_name(unit_.type_name(type)));
}

Touch Touches::of(const Stmt *s) {
  if (!s) return Touch::nothing;
  Reader reader(*this, unit_);
  reader.TraverseStmt(const_cast<Stmt *>(s));
  return reader.touch;
}

Touch Touches::of(const FunctionDecl *f) {
  f = f->getCanonicalDecl();
  if (parallel_.count(f)) return Touch::nothing;
  // While a function is read, it counts as changing images: it may call itself.
  if (const auto [at, added] = done_.try_emplace(f, Touch::changes); !added) return at->second;
  const auto *method = dyn_cast<CXXMethodDecl>(f);
  const FunctionDecl *body = nullptr;
  if (!f->hasBody(body) || (method && method->isVirtual()) || calls_parallel(body->getBody()))
    return done_[f] = Touch::changes;
  Reader reader(*this, unit_);
  reader.TraverseDecl(const_cast<FunctionDecl *>(body));
  return done_[f] = reader.touch;
}

bool Touches::calls_parallel(const Stmt *s) const {
  Caller caller(parallel_);
  if (s) caller.TraverseStmt(const_cast<Stmt *>(s));
  return caller.found;
}

}  // namespace cudascan::gswo
