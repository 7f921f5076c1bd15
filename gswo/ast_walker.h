// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Walks a syntax tree as Clang's RecursiveASTVisitor does, with virtual functions. That template
/// has functions for every kind of node and takes seconds to compile, so one file uses it.
#pragma once
#include <clang/AST/ASTFwd.h>
#include <llvm/ADT/PointerIntPair.h>
#include <llvm/ADT/SmallVector.h>

namespace cudascan::gswo {

// clang-format off
/// The nodes that walkers visit.
#define GSWO_VISITED_NODES(X) \
  X(AddrLabelExpr) X(ArraySubscriptExpr) X(AsmStmt) X(BinaryOperator) X(BreakStmt) X(CallExpr) \
  X(ContinueStmt) X(CoreturnStmt) X(CoroutineSuspendExpr) X(CXXBindTemporaryExpr) \
  X(CXXConstructExpr) X(CXXDefaultArgExpr) X(CXXDefaultInitExpr) X(CXXDeleteExpr) \
  X(CXXDestructorDecl) X(CXXForRangeStmt) X(CXXMethodDecl) X(CXXNewExpr) X(CXXThrowExpr) \
  X(CXXTryStmt) X(CXXTypeidExpr) X(DeclRefExpr) X(DoStmt) X(ExplicitCastExpr) X(Expr) \
  X(FieldDecl) X(FileScopeAsmDecl) X(ForStmt) X(FunctionDecl) X(GotoStmt) X(ImplicitCastExpr) \
  X(IndirectGotoStmt) X(LambdaExpr) X(MemberExpr) X(ReturnStmt) X(Stmt) X(StmtExpr) \
  X(UnaryExprOrTypeTraitExpr) X(UnaryOperator) X(VarDecl) X(WhileStmt)
/// The statements and expressions that walkers walk in a way of their own.
#define GSWO_WALKED_NODES(X) \
  X(BinaryOperator) X(CompoundAssignOperator) X(CXXForRangeStmt) X(CXXOperatorCallExpr) \
  X(DoStmt) X(ForStmt) X(LambdaExpr) X(SwitchStmt) X(UnaryExprOrTypeTraitExpr) X(WhileStmt)
// clang-format on

/// Derived classes override what they need. All functions return whether the walk goes on.
class AstWalker {
 public:
  /// What the caller of a function Traverse will walk later. Functions that are called without it
  /// return when they have walked everything.
  using Queue = llvm::SmallVectorImpl<llvm::PointerIntPair<clang::Stmt *, 1, bool>>;

  virtual ~AstWalker() = default;

  bool TraverseDecl(clang::Decl *d);
  bool TraverseStmt(clang::Stmt *s);

  virtual bool shouldVisitTemplateInstantiations() const { return false; }

  // Called for each node of a kind, such as VisitExpr() for every expression, before its children.
#define GSWO_VISIT(Node)                    \
  virtual bool Visit##Node(clang::Node *) { \
    return true;                            \
  }
  GSWO_VISITED_NODES(GSWO_VISIT)
#undef GSWO_VISIT

  // They visit a node and walk its children.
#define GSWO_TRAVERSE(Node) virtual bool Traverse##Node(clang::Node *node, Queue *queue = nullptr);
  GSWO_WALKED_NODES(GSWO_TRAVERSE)
#undef GSWO_TRAVERSE
  virtual bool TraverseFunctionDecl(clang::FunctionDecl *f);
  virtual bool TraverseCXXMethodDecl(clang::CXXMethodDecl *f);
};

}  // namespace cudascan::gswo
