// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gswo/ast_walker.h"

#include <clang/AST/RecursiveASTVisitor.h>

namespace cudascan::gswo {

using namespace clang;

namespace {

/// Calls the virtual functions of a walker.
class Visitor : public RecursiveASTVisitor<Visitor> {
 public:
  using Base = RecursiveASTVisitor<Visitor>;

  explicit Visitor(AstWalker &walker) : walker_(walker) {}

  bool shouldVisitTemplateInstantiations() const {
    return walker_.shouldVisitTemplateInstantiations();
  }
#define GSWO_VISIT(Node)              \
  bool Visit##Node(Node *node) {      \
    return walker_.Visit##Node(node); \
  }
  GSWO_VISITED_NODES(GSWO_VISIT)
#undef GSWO_VISIT

#define GSWO_TRAVERSE(Node)                                              \
  bool Traverse##Node(Node *node, DataRecursionQueue *queue = nullptr) { \
    return walker_.Traverse##Node(node, queue);                          \
  }
  GSWO_WALKED_NODES(GSWO_TRAVERSE)
#undef GSWO_TRAVERSE
  bool TraverseFunctionDecl(FunctionDecl *f) {
    return walker_.TraverseFunctionDecl(f);
  }
  bool TraverseCXXMethodDecl(CXXMethodDecl *f) {
    return walker_.TraverseCXXMethodDecl(f);
  }

 private:
  AstWalker &walker_;
};

}  // namespace

bool AstWalker::TraverseDecl(Decl *d) {
  return Visitor(*this).TraverseDecl(d);
}
bool AstWalker::TraverseStmt(Stmt *s) {
  return Visitor(*this).TraverseStmt(s);
}
#define GSWO_TRAVERSE(Node)                                  \
  bool AstWalker::Traverse##Node(Node *node, Queue *queue) { \
    return Visitor(*this).Base::Traverse##Node(node, queue); \
  }
GSWO_WALKED_NODES(GSWO_TRAVERSE)
#undef GSWO_TRAVERSE
bool AstWalker::TraverseFunctionDecl(FunctionDecl *f) {
  return Visitor(*this).Base::TraverseFunctionDecl(f);
}
bool AstWalker::TraverseCXXMethodDecl(CXXMethodDecl *f) {
  return Visitor(*this).Base::TraverseCXXMethodDecl(f);
}

}  // namespace cudascan::gswo
