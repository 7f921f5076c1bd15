// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gswo/window_body.h"

#include <clang/AST/ParentMapContext.h>

#include <algorithm>

#include "gswo/ast_walker.h"

namespace cudascan::gswo {

using namespace clang;

namespace {

constexpr Access kRead{true, false, false, false, false};
constexpr Access kWrite{false, true, false, true, false};
constexpr Access kChange{true, true, false, false, false};
constexpr Access kEscape{true, true, true, false, false};

/// How a call uses its argument, or its object, `e`.
Access access_by(const Expr *call, const Expr *e) {
  if (e->getType().isConstQualified()) return kRead;
  if (const auto *use = dyn_cast<CXXOperatorCallExpr>(call); use && use->getArg(0) == e) {
    if (use->getOperator() == OO_Equal) return kWrite;
    if (use->isAssignmentOp() || use->getOperator() == OO_PlusPlus ||
        use->getOperator() == OO_MinusMinus)
      return kChange;
  }
  const auto *use = dyn_cast<CXXMemberCallExpr>(call);
  if (!use || use->getCallee()->IgnoreParens() != e) return kEscape;
  const CXXMethodDecl *method = use->getMethodDecl();
  return method && method->isConst() ? kRead : kChange;
}

/// How `e` is used, judged by the expressions around it.
Access access_to(const Expr *e, ASTContext &ast) {
  const Expr *child = e;
  bool part = false;
  const auto of_part = [&](Access a) {
    a.part = part;
    a.plain = a.plain && !part;
    return a;
  };
  for (DynTypedNode node = DynTypedNode::create(*e);;) {
    const auto parents = ast.getParents(node);
    if (parents.empty()) return of_part(kRead);
    node = parents[0];
    if (const auto *variable = node.get<VarDecl>())
      return variable->getType()->isReferenceType() &&
                     !variable->getType().getNonReferenceType().isConstQualified()
                 ? kEscape
                 : of_part(kRead);
    const auto *parent = node.get<Expr>();
    if (!parent) return of_part(kRead);
    if (const auto *conversion = dyn_cast<ImplicitCastExpr>(parent)) {
      if (conversion->getCastKind() == CK_LValueToRValue) return of_part(kRead);
      if (conversion->getCastKind() == CK_ArrayToPointerDecay) return kEscape;
      if (conversion->getCastKind() == CK_NoOp && conversion->getType().isConstQualified())
        return of_part(kRead);
    } else if (const auto *binary = dyn_cast<BinaryOperator>(parent)) {
      if (!binary->isAssignmentOp() || binary->getLHS()->IgnoreParens() != child->IgnoreParens())
        return of_part(kRead);
      return of_part(binary->getOpcode() == BO_Assign ? kWrite : kChange);
    } else if (const auto *unary = dyn_cast<UnaryOperator>(parent)) {
      if (unary->isIncrementDecrementOp()) return of_part(kChange);
      return unary->getOpcode() == UO_AddrOf ? kEscape : of_part(kRead);
    } else if (isa<CallExpr>(parent) || isa<CXXConstructExpr>(parent)) {
      return of_part(access_by(parent, child));
    } else if (const auto *member = dyn_cast<MemberExpr>(parent)) {
      part |= isa<FieldDecl>(member->getMemberDecl());
    } else if (!isa<ParenExpr>(parent) && !isa<ConditionalOperator>(parent)) {
      return of_part(kRead);
    }
    child = parent;
  }
}

class Visitor : public AstWalker {
 public:
  Visitor(ASTContext &ast, WindowBody &body) : ast_(ast), body_(body) {}

  bool VisitArraySubscriptExpr(ArraySubscriptExpr *e) override {
    if (is_base(e)) return true;
    Subscript s{e, base_of(e), nullptr, {}, access_to(e, ast_)};
    if (!s.name) return true;
    s.array = cast<VarDecl>(s.name->getDecl());
    for (const Expr *x = e; const auto *inner = dyn_cast<ArraySubscriptExpr>(bare(x));
         x = inner->getBase())
      s.indices.insert(s.indices.begin(), inner->getIdx());
    body_.subscripts.push_back(std::move(s));
    return true;
  }
  bool VisitDeclRefExpr(DeclRefExpr *name) override {
    if (const auto *variable = dyn_cast<VarDecl>(name->getDecl()))
      body_.references.push_back({name, variable, access_to(name, ast_)});
    return true;
  }
  bool VisitVarDecl(VarDecl *variable) override { return body_.own.insert(variable), true; }
  bool VisitCallExpr(CallExpr *call) override { return body_.calls.push_back(call), true; }
  bool VisitCXXConstructExpr(CXXConstructExpr *e) override {
    return body_.calls.push_back(e), true;
  }
  bool VisitForStmt(ForStmt *loop) override { return body_.loops.push_back(loop), true; }
  bool VisitBinaryOperator(BinaryOperator *e) override {
    if (e->isAssignmentOp()) body_.assignments.push_back(e);
    return true;
  }
  bool VisitUnaryOperator(UnaryOperator *e) override {
    if (e->getOpcode() == UO_Deref) body_.dereferences.push_back(e);
    if (e->isIncrementDecrementOp()) changed_.push_back(e);
    return true;
  }
  bool VisitReturnStmt(ReturnStmt *s) override {
    if (!in_lambda_) body_.exits.push_back(s);
    return true;
  }
  bool VisitGotoStmt(GotoStmt *s) override { return body_.exits.push_back(s), true; }
  bool VisitIndirectGotoStmt(IndirectGotoStmt *s) override {
    return body_.exits.push_back(s), true;
  }
  bool VisitContinueStmt(ContinueStmt *s) override {
    if (!in_loop_ && !in_lambda_) body_.continues.push_back(s);
    return true;
  }
  bool VisitBreakStmt(BreakStmt *s) override {
    if (!in_loop_ && !in_switch_ && !in_lambda_) body_.breaks.push_back(s);
    return true;
  }
  // The assigned value is evaluated before its target.
  bool TraverseBinaryOperator(BinaryOperator *e, Queue *) override {
    Expr *first = e->getLHS(), *second = e->getRHS();
    if (e->isAssignmentOp()) std::swap(first, second);
    return VisitBinaryOperator(e) && TraverseStmt(first) && TraverseStmt(second);
  }
  bool TraverseCompoundAssignOperator(CompoundAssignOperator *e, Queue *queue) override {
    return TraverseBinaryOperator(e, queue);
  }
  bool TraverseCXXOperatorCallExpr(CXXOperatorCallExpr *e, Queue *queue) override {
    if (e->getOperator() != OO_Equal) return AstWalker::TraverseCXXOperatorCallExpr(e, queue);
    return VisitCallExpr(e) && TraverseStmt(e->getArg(1)) && TraverseStmt(e->getArg(0));
  }
  bool TraverseForStmt(ForStmt *s, Queue *) override {
    return inside(in_loop_, [&] { return AstWalker::TraverseForStmt(s); });
  }
  bool TraverseWhileStmt(WhileStmt *s, Queue *) override {
    return inside(in_loop_, [&] { return AstWalker::TraverseWhileStmt(s); });
  }
  bool TraverseDoStmt(DoStmt *s, Queue *) override {
    return inside(in_loop_, [&] { return AstWalker::TraverseDoStmt(s); });
  }
  bool TraverseCXXForRangeStmt(CXXForRangeStmt *s, Queue *) override {
    return inside(in_loop_, [&] { return AstWalker::TraverseCXXForRangeStmt(s); });
  }
  bool TraverseSwitchStmt(SwitchStmt *s, Queue *) override {
    return inside(in_switch_, [&] { return AstWalker::TraverseSwitchStmt(s); });
  }
  bool TraverseLambdaExpr(LambdaExpr *e, Queue *) override {
    return inside(in_lambda_, [&] { return AstWalker::TraverseLambdaExpr(e); });
  }

  void finish() {
    std::string why;
    std::set<const Stmt *> headers;
    for (const ForStmt *statement : body_.loops)
      if (const auto loop = read_loop(statement, ast_, why)) {
        body_.ranges[loop->variable].push_back(*loop);
        if (statement->getInit()) headers.insert(statement->getInit());
        headers.insert(bare(statement->getInc()));
      }
    for (const BinaryOperator *set : body_.assignments) {
      const VarDecl *variable = variable_of(set->getLHS());
      if (!variable || headers.count(set)) continue;
      if (set->getOpcode() == BO_Assign)
        body_.definitions[variable].push_back(set->getRHS());
      else
        body_.opaque.insert(variable);
    }
    for (const UnaryOperator *e : changed_)
      if (const VarDecl *variable = variable_of(e->getSubExpr()); variable && !headers.count(e))
        body_.opaque.insert(variable);
    for (const Reference &r : body_.references)
      if (r.access.escapes && !r.variable->getType()->isArrayType())
        body_.opaque.insert(r.variable);
  }

 private:
  template <typename Walk>
  bool inside(int &depth, Walk walk) {
    ++depth;
    const bool on = walk();
    --depth;
    return on;
  }

  /// Whether `e` is the `a[i]` of an `a[i][j]`.
  bool is_base(const ArraySubscriptExpr *e) const {
    const Expr *child = e;
    for (auto parents = ast_.getParents(*e); !parents.empty();
         parents = ast_.getParents(parents[0])) {
      const auto *parent = parents[0].get<Expr>();
      if (const auto *outer = dyn_cast_or_null<ArraySubscriptExpr>(parent))
        return outer->getBase() == child;
      if (!parent || !(isa<ImplicitCastExpr>(parent) || isa<ParenExpr>(parent))) return false;
      child = parent;
    }
    return false;
  }

  ASTContext &ast_;
  WindowBody &body_;
  std::vector<const UnaryOperator *> changed_;
  int in_loop_ = 0, in_switch_ = 0, in_lambda_ = 0;
};

struct Names : AstWalker {
  std::vector<const VarDecl *> found;
  bool VisitDeclRefExpr(DeclRefExpr *name) override {
    if (const auto *variable = dyn_cast<VarDecl>(name->getDecl())) found.push_back(variable);
    return true;
  }
};

}  // namespace

Access WindowBody::access_of(const Reference &reference) const {
  for (const Subscript &s : subscripts)
    if (s.name == reference.name) return s.access;
  return reference.access;
}

WindowBody read_code(const Unit &unit, const Stmt *code) {
  WindowBody result;
  Visitor visitor(unit.ast, result);
  visitor.TraverseStmt(const_cast<Stmt *>(code));
  visitor.finish();
  return result;
}

WindowBody read_window(const Unit &unit, const Stmt *body, const FunctionDecl *function) {
  WindowBody result = read_code(unit, body);
  const WindowBody whole = read_code(unit, function->getBody());
  std::set<const DeclRefExpr *> inside;
  for (const Reference &r : result.references) inside.insert(r.name);
  for (const Reference &r : whole.references)
    if (!inside.count(r.name) && whole.access_of(r).write) result.set_outside.insert(r.variable);
  for (const VarDecl *variable : whole.own)
    for (const Pragma &p : unit.notes.pragmas)
      if (p.kind == PragmaKind::initialisation && p.holds(unit.place(variable->getLocation())))
        result.initialised.insert(variable);
  return result;
}

std::vector<const VarDecl *> variables_in(const Stmt *statement) {
  Names names;
  names.TraverseStmt(const_cast<Stmt *>(statement));
  return std::move(names.found);
}

}  // namespace cudascan::gswo
