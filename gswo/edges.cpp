// SPDX-License-Identifier: LGPL-2.1-or-later
// A window's questions about the edges of the image have the same answer for all windows inside it.

#include <algorithm>

#include "gswo/ast_walker.h"
#include "gswo/kernel.h"
#include "gswo/window_body.h"

namespace cudascan::gswo {

using namespace clang;

namespace {

struct Comparisons : AstWalker {
  std::vector<const BinaryOperator *> found;
  bool VisitBinaryOperator(BinaryOperator *e) override {
    if (e->isRelationalOp()) found.push_back(e);
    return true;
  }
};

/// The extent of inner windows, if everything that the window reads is known.
std::vector<Edge> edges_of(const Unit &unit, const Kernel &kernel) {
  int y0 = 0, y1 = 0, x0 = 0, x1 = 0;
  for (const Image &i : kernel.images) {
    if (!i.read) continue;
    if (!i.known) return {};
    y0 = std::min(y0, i.y0), y1 = std::max(y1, i.y1);
    x0 = std::min(x0, i.x0), x1 = std::max(x1, i.x1);
  }
  std::vector<Edge> edges;
  const auto add = [&](Role role, const Loop &loop, int low, int high) {
    const Scalar *size = kernel.scalar(role);
    if (size && size->in_window && loop.step == 1)
      edges.push_back({role == Role::height, low, high, kernel.origin(unit, loop), size->name,
                       loop.variable, size->variable});
  };
  add(Role::height, kernel.rows(), y0, y1);
  add(Role::width, kernel.columns(), x0, x1);
  return edges;
}

/// Whether `a` is at least 0 in all inner windows.
bool is_at_least_zero(const LinearForm &a, const Edge &edge) {
  const auto factor = [&](const VarDecl *variable) {
    const auto term = a.terms.find(variable);
    return term == a.terms.end() ? 0 : term->second;
  };
  const long variable = factor(edge.variable), size = factor(edge.size_variable);
  if (a.terms.size() != static_cast<std::size_t>((variable != 0) + (size != 0))) return false;
  // variable >= origin - low, and variable <= origin + size - 1 - high
  if (variable == 1 && size == 0) return edge.origin - edge.low + a.low >= 0;
  if (variable == -1 && size == 1) return 1 + edge.high - edge.origin + a.low >= 0;
  return false;
}

}  // namespace

void find_edges(const Unit &unit, Kernel &kernel) {
  if (kernel.is_volume()) return;  // programs read no border
  kernel.edges = edges_of(unit, kernel);
  if (kernel.edges.empty()) return;
  Evaluator value(unit, kernel.nest, kernel.window);
  Comparisons comparisons;
  comparisons.TraverseStmt(const_cast<Stmt *>(kernel.body));
  std::vector<Range> answered;
  for (const BinaryOperator *e : comparisons.found) {
    const auto range = unit.typed(e->getSourceRange());
    if (!range || !e->getLHS()->getType()->isSignedIntegerType()) continue;
    MaybeForm left = value(e->getLHS()), right = value(e->getRHS());
    if (!left || !right || left->clamped || right->clamped) continue;
    const BinaryOperatorKind kind = e->getOpcode();
    if (kind == BO_GT || kind == BO_LE) std::swap(left, right);
    const bool less = kind == BO_LT || kind == BO_GT;  // left < right, or left >= right
    const MaybeForm above = plus(left, right, -1);
    const MaybeForm below = plus(plus(right, left, -1), LinearForm::number(-1));
    for (const Edge &edge : kernel.edges) {
      const bool is = above && is_at_least_zero(*above, edge);
      if (!is && !(below && is_at_least_zero(*below, edge))) continue;
      kernel.edits.insert({range->begin, range->begin,
                           std::string("GSWO_INNER(") + (is == less ? "false" : "true") + ", "});
      kernel.edits.insert({range->end, range->end, ")"});
      answered.push_back(*range);
      break;
    }
  }
  kernel.knows_inner = !answered.empty();
  // The width in a subscript becomes the pitch of the image.
  for (const Subscript &s : kernel.window.subscripts)
    if (kernel.image(s.array))
      if (const auto range = unit.typed(s.expression->getSourceRange())) answered.push_back(*range);
  for (const Reference &r : kernel.window.references) {
    const unsigned place = unit.place(r.name);
    const bool is_answered = std::any_of(answered.begin(), answered.end(), [&](const Range &range) {
      return place >= range.begin && place < range.end;
    });
    for (Edge &edge : kernel.edges)
      if (r.variable == edge.size_variable && !is_answered) edge.is_used = true;
  }
}

}  // namespace cudascan::gswo
