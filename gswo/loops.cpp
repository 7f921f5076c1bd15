// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gswo/loops.h"

namespace cudascan::gswo {

using namespace clang;

namespace {

/// The step of `i++`, `i -= 2`, `i = i + 2`; 0 for anything else.
long step_of(const Expr *increment, const VarDecl *variable, const ASTContext &ast) {
  if (!increment) return 0;
  increment = bare(increment);
  if (const auto *unary = dyn_cast<UnaryOperator>(increment))
    return unary->isIncrementDecrementOp() && variable_of(unary->getSubExpr()) == variable
               ? (unary->isIncrementOp() ? 1 : -1)
               : 0;
  const auto *binary = dyn_cast<BinaryOperator>(increment);
  if (!binary || variable_of(binary->getLHS()) != variable) return 0;
  const Expr *amount = binary->getRHS();
  bool down = binary->getOpcode() == BO_SubAssign;
  if (binary->getOpcode() == BO_Assign) {
    const auto *sum = dyn_cast<BinaryOperator>(bare(amount));
    if (!sum || !sum->isAdditiveOp() || variable_of(sum->getLHS()) != variable) return 0;
    down = sum->getOpcode() == BO_Sub;
    amount = sum->getRHS();
  } else if (binary->getOpcode() != BO_AddAssign && !down) {
    return 0;
  }
  const long value = constant_of(amount, ast).value_or(0);
  return down ? -value : value;
}

}  // namespace

std::optional<Loop> read_loop(const ForStmt *statement, const ASTContext &ast, std::string &why) {
  Loop loop;
  loop.statement = statement;
  if (const auto *declared = dyn_cast_or_null<DeclStmt>(statement->getInit())) {
    if (declared->isSingleDecl()) loop.variable = dyn_cast<VarDecl>(declared->getSingleDecl());
    if (loop.variable) loop.first = loop.variable->getInit();
  } else if (const auto *set = dyn_cast_or_null<BinaryOperator>(statement->getInit())) {
    if (set->getOpcode() == BO_Assign)
      loop.variable = variable_of(set->getLHS()), loop.first = set->getRHS();
  }
  if (!loop.variable || !loop.first || !loop.variable->getType()->isIntegerType())
    return why = "start it with 'i = value' for one integer variable", std::nullopt;

  const char *compare =
      "its condition has to compare the loop variable with a bound, such as 'i < n'";
  const Expr *condition = statement->getCond();
  const auto *test = condition ? dyn_cast<BinaryOperator>(bare(condition)) : nullptr;
  if (!test || !(test->isRelationalOp() || test->getOpcode() == BO_NE))
    return why = compare, std::nullopt;
  loop.relation = test->getOpcode();
  if (variable_of(test->getLHS()) == loop.variable) {
    loop.bound = test->getRHS();
  } else if (variable_of(test->getRHS()) == loop.variable) {
    loop.bound = test->getLHS();
    loop.relation = BinaryOperator::reverseComparisonOp(loop.relation);
  } else {
    return why = compare, std::nullopt;
  }

  loop.step = step_of(statement->getInc(), loop.variable, ast);
  if (!loop.step)
    return why = "it has to step by a constant, such as i++, i-- or i += 2", std::nullopt;
  loop.not_equal = loop.relation == BO_NE;
  if (loop.not_equal) loop.relation = loop.upwards() ? BO_LT : BO_GT;
  if (loop.upwards() != (loop.relation == BO_LT || loop.relation == BO_LE))
    return why = "it counts away from its bound; reverse the comparison or the step", std::nullopt;
  return loop;
}

std::string condition(const Unit &unit, const Loop &loop) {
  if (!loop.not_equal) return unit.text(loop.statement->getCond());
  return name_of(loop.variable) + (loop.upwards() ? " < (" : " > (") + unit.text(loop.bound) + ")";
}

}  // namespace cudascan::gswo
