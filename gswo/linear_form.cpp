// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gswo/linear_form.h"

#include <clang/AST/ParentMapContext.h>

#include <algorithm>
#include <cstdlib>

namespace cudascan::gswo {

using namespace clang;

namespace {

constexpr long kLargest = 1L << 30;

bool in_range(long v) {
  return v >= -kLargest && v <= kLargest;
}

MaybeForm checked(LinearForm f) {
  if (!in_range(f.low) || !in_range(f.high)) return {};
  for (const auto &term : f.terms)
    if (!in_range(term.second)) return {};
  return f;
}

/// Whether they differ by at most one.
bool near(const LinearForm &a, const LinearForm &b) {
  return a.terms == b.terms && std::labs(a.low - b.low) <= 1 && std::labs(a.high - b.high) <= 1;
}

/// The smallest interval that contains both.
MaybeForm join(const MaybeForm &a, const MaybeForm &b) {
  if (!a || !b || a->terms != b->terms) return {};
  return LinearForm{a->terms, std::min(a->low, b->low), std::max(a->high, b->high),
                    a->clamped || b->clamped};
}

}  // namespace

MaybeForm plus(const MaybeForm &a, const MaybeForm &b, long factor) {
  if (!a || !b || !in_range(factor)) return {};
  LinearForm r = *a;
  for (const auto &[variable, coefficient] : b->terms)
    if (!(r.terms[variable] += factor * coefficient)) r.terms.erase(variable);
  r.low += factor * (factor > 0 ? b->low : b->high);
  r.high += factor * (factor > 0 ? b->high : b->low);
  r.clamped |= b->clamped;
  return checked(std::move(r));
}

MaybeForm Evaluator::operator()(const Expr *e) {
  e = bare(e);
  if (e->isValueDependent()) return {};
  if (const auto value = constant_of(e, unit_.ast)) return LinearForm::number(*value);
  if (const auto *c = dyn_cast<CallExpr>(e)) return call(c);
  if (const auto *c = dyn_cast<ConditionalOperator>(e)) return conditional(c);
  if (const auto *d = dyn_cast<DeclRefExpr>(e)) return name(d);
  if (const auto *b = dyn_cast<BinaryOperator>(e)) return binary(b);
  if (const auto *c = dyn_cast<CastExpr>(e)) {
    const QualType to = c->getType(), from = c->getSubExpr()->getType();
    // A conversion to a narrower type may change the number.
    const bool keeps = to->isIntegerType() && !to->isBooleanType() && from->isIntegerType() &&
                       unit_.ast.getTypeSize(to) >= std::min(unit_.ast.getTypeSize(from), 32UL);
    return keeps ? (*this)(c->getSubExpr()) : MaybeForm();
  }
  if (const auto *u = dyn_cast<UnaryOperator>(e)) {
    if (u->getOpcode() == UO_Minus)
      return plus(LinearForm::number(0), (*this)(u->getSubExpr()), -1);
    if (u->getOpcode() == UO_Plus) return (*this)(u->getSubExpr());
  }
  return {};
}

MaybeForm Evaluator::call(const CallExpr *e) {
  const FunctionDecl *function = e->getDirectCallee();
  if (!function) return {};
  const std::string called = function->getNameAsString();
  if (e->getNumArgs() == 2 && (called == "min" || called == "max"))
    return clamp((*this)(e->getArg(0)), (*this)(e->getArg(1)), called == "max");
  if (e->getNumArgs() == 3 && called == "clamp")
    return clamp(clamp((*this)(e->getArg(0)), (*this)(e->getArg(1)), true), (*this)(e->getArg(2)),
                 false);
  return {};
}

/// a < b ? a : b in all its forms; of others, the range of both values.
MaybeForm Evaluator::conditional(const ConditionalOperator *e) {
  const MaybeForm yes = (*this)(e->getTrueExpr()), no = (*this)(e->getFalseExpr());
  if (!yes || !no) return {};
  if (const auto *test = dyn_cast<BinaryOperator>(bare(e->getCond()));
      test && test->isRelationalOp()) {
    const MaybeForm left = (*this)(test->getLHS()), right = (*this)(test->getRHS());
    const bool less = test->getOpcode() == BO_LT || test->getOpcode() == BO_LE;
    if (left && right && *left == *yes && near(*right, *no)) return clamp(yes, no, !less);
    if (left && right && *left == *no && near(*right, *yes)) return clamp(no, yes, less);
  }
  return join(yes, no);
}

MaybeForm Evaluator::binary(const BinaryOperator *e) {
  MaybeForm left = (*this)(e->getLHS()), right = (*this)(e->getRHS());
  if (!left || !right) return {};
  const bool numbers = left->is_number() && right->is_number();
  switch (e->getOpcode()) {
    case BO_Add:
      return plus(left, right);
    case BO_Sub:
      return plus(left, right, -1);
    case BO_Mul: {
      if (left->is_number()) std::swap(left, right);
      if (right->is_number()) return plus(LinearForm::number(0), left, right->low);
      if (!left->is_constant() || !right->is_constant()) return {};
      const auto [low, high] = std::minmax({left->low * right->low, left->low * right->high,
                                            left->high * right->low, left->high * right->high});
      return checked({{}, low, high, false});
    }
    case BO_Div:
      return numbers && right->low ? MaybeForm(LinearForm::number(left->low / right->low))
                                   : MaybeForm();
    case BO_Rem:
      return numbers && right->low ? MaybeForm(LinearForm::number(left->low % right->low))
                                   : MaybeForm();
    default:
      return {};
  }
}

MaybeForm Evaluator::name(const DeclRefExpr *e) {
  const auto *variable = dyn_cast<VarDecl>(e->getDecl());
  if (!variable || !variable->getType().getNonReferenceType()->isIntegerType()) return {};
  if (const Constant *set = constants_ ? unit_.constant(variable) : nullptr)
    return set->whole ? checked(LinearForm::number(*set->whole)) : MaybeForm();
  for (const Loop &loop : nest_)
    if (loop.variable == variable) return LinearForm::symbol(variable);
  if (body_.opaque.count(variable) || visiting_.count(variable)) return {};
  const bool counted = body_.ranges.count(variable), set = body_.definitions.count(variable);
  MaybeForm result;
  visiting_.insert(variable);
  if (counted && set) {
    // Both a counter and set otherwise: not followed.
  } else if (const Loop *around = loop_around(e, variable)) {
    result = values_of(*around);
  } else if (counted) {
    // After its loop, the bound is also a value.
    bool first = true;
    for (const Loop &loop : body_.ranges.at(variable)) {
      const MaybeForm values = join(values_of(loop), (*this)(loop.bound));
      result = first ? values : join(result, values);
      first = false;
    }
  } else if (isa<ParmVarDecl>(variable) && !set) {
    // Its initial value, if it has one, is only a default.
    result = LinearForm::symbol(variable);
  } else if (set || (variable->hasInit() && !body_.set_outside.count(variable))) {
    result = set_values(variable);
  } else if (!body_.own.count(variable)) {
    result = LinearForm::symbol(variable);
  }
  visiting_.erase(variable);
  return result;
}

MaybeForm Evaluator::values_of(const Loop &loop) {
  MaybeForm last = (*this)(loop.bound);
  if (!loop.inclusive()) last = plus(last, LinearForm::number(loop.upwards() ? -1 : 1));
  return join((*this)(loop.first), last);
}

MaybeForm Evaluator::set_values(const VarDecl *variable) {
  MaybeForm result;
  std::vector<const Expr *> clamps, values;
  // A value from before the loops does not reach a window that sets the variable.
  const bool in_window = body_.own.count(variable) || body_.initialised.count(variable);
  if (variable->hasInit() && (in_window || !body_.definitions.count(variable)))
    values.push_back(variable->getInit());
  const auto definitions = body_.definitions.find(variable);
  if (definitions != body_.definitions.end())
    for (const Expr *value : definitions->second)
      (guard(value, variable) ? clamps : values).push_back(value);
  for (std::size_t k = 0; k < values.size(); ++k)
    result = k ? join(result, (*this)(values[k])) : (*this)(values[k]);
  for (const Expr *value : clamps)
    result = clamp(result, (*this)(value), guard(value, variable) > 0);
  return result;
}

/// 1 for the value of `if (v < b) v = b`, -1 for that of `if (v > b) v = b`, 0 for any other.
int Evaluator::guard(const Expr *value, const VarDecl *variable) {
  const Stmt *statement = nullptr;
  for (const BinaryOperator *set : body_.assignments)
    if (set->getRHS() == value) statement = set;
  if (!statement) return 0;
  auto parents = unit_.ast.getParents(*statement);
  for (; !parents.empty(); parents = unit_.ast.getParents(parents[0])) {
    const auto *block = parents[0].get<CompoundStmt>();
    if (!block && !parents[0].get<ExprWithCleanups>()) break;
    if (block && block->size() != 1) return 0;
    if (block) statement = block;
  }
  const auto *choice = parents.empty() ? nullptr : parents[0].get<IfStmt>();
  if (!choice || choice->getThen() != statement || choice->getElse()) return 0;
  const auto *test = dyn_cast<BinaryOperator>(bare(choice->getCond()));
  if (!test || !test->isRelationalOp() || variable_of(test->getLHS()) != variable) return 0;
  const MaybeForm bound = (*this)(test->getRHS()), to = (*this)(value);
  if (!bound || !to || !near(*bound, *to)) return 0;
  return test->getOpcode() == BO_LT || test->getOpcode() == BO_LE ? 1 : -1;
}

/// Hand-written borders: max(i - 1, 0), min(i + 1, h - 1), i < 0 ? 0 : i. A bound that never cuts
/// off the window's own row or column gives an index between the unclamped one and the window's
/// own.
MaybeForm Evaluator::clamp(MaybeForm a, MaybeForm b, bool from_below) {
  if (!a || !b) return {};
  if (a->is_constant() && b->is_constant()) {
    a->low = from_below ? std::max(a->low, b->low) : std::min(a->low, b->low);
    a->high = from_below ? std::max(a->high, b->high) : std::min(a->high, b->high);
    return a;
  }
  for (int turn = 0; turn < 2; ++turn, std::swap(a, b))
    for (const Loop &loop : nest_) {
      if (!a->follows(loop.variable) || b->terms.count(loop.variable) || loop.step != 1) continue;
      const MaybeForm first = (*this)(loop.first);
      const MaybeForm last =
          plus((*this)(loop.bound), LinearForm::number(loop.inclusive() ? 0 : -1));
      const MaybeForm room = from_below ? plus(first, b, -1) : plus(b, last, -1);
      if (!room || !room->is_constant() || room->low < 0) continue;
      a->low = std::min(a->low, 0L);
      a->high = std::max(a->high, 0L);
      a->clamped = true;
      return a;
    }
  return {};
}

const Loop *Evaluator::loop_around(const DeclRefExpr *e, const VarDecl *variable) const {
  const auto loops = body_.ranges.find(variable);
  if (loops == body_.ranges.end()) return nullptr;
  const Stmt *from = e;
  for (auto parents = unit_.ast.getParents(*e); !parents.empty();
       parents = unit_.ast.getParents(parents[0])) {
    if (const auto *statement = parents[0].get<ForStmt>();
        statement && from == statement->getBody())
      for (const Loop &loop : loops->second)
        if (loop.statement == statement) return &loop;
    if (const auto *statement = parents[0].get<Stmt>()) from = statement;
  }
  return nullptr;
}

/// From the first value of a loop to one past the last.
MaybeForm Evaluator::way(const Loop &loop) {
  const MaybeForm first = (*this)(loop.first), bound = (*this)(loop.bound);
  const MaybeForm way = loop.upwards() ? plus(bound, first, -1) : plus(first, bound, -1);
  return plus(way, LinearForm::number(loop.inclusive() ? 1 : 0));
}

std::optional<long> Evaluator::most_turns(const Loop &loop) {
  const MaybeForm length = way(loop);
  if (!length || !length->is_constant()) return {};
  const long step = std::labs(loop.step);
  return length->high <= 0 ? 0 : (length->high + step - 1) / step;
}

std::optional<long> Evaluator::turns(const Loop &loop) {
  const MaybeForm length = way(loop);
  return length && length->is_number() ? most_turns(loop) : std::nullopt;
}

bool Evaluator::depends_on_nest(const Stmt *statement, int depth) const {
  if (!statement || depth > 8) return false;
  if (const auto *e = dyn_cast<DeclRefExpr>(statement)) {
    const auto *variable = dyn_cast<VarDecl>(e->getDecl());
    if (!variable) return false;
    for (const Loop &loop : nest_)
      if (loop.variable == variable) return true;
    if (body_.own.count(variable) && variable->hasInit() &&
        depends_on_nest(variable->getInit(), depth + 1))
      return true;
    const auto set = body_.definitions.find(variable);
    if (set != body_.definitions.end())
      for (const Expr *value : set->second)
        if (depends_on_nest(value, depth + 1)) return true;
    const auto counted = body_.ranges.find(variable);
    if (counted != body_.ranges.end())
      for (const Loop &loop : counted->second)
        if (depends_on_nest(loop.first, depth + 1)) return true;
    return false;
  }
  for (const Stmt *child : statement->children())
    if (depends_on_nest(child, depth)) return true;
  return false;
}

}  // namespace cudascan::gswo
