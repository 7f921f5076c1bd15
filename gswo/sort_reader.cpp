// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gswo/sorts.h"

namespace cudascan::gswo {

using namespace clang;

const Stmt *only(const Stmt *statement) {
  const auto *block = dyn_cast_or_null<CompoundStmt>(statement);
  return !block ? statement : block->size() == 1 ? block->body_front() : nullptr;
}

std::pair<const Expr *, const Expr *> assigned(const Stmt *statement) {
  const auto *e = dyn_cast_or_null<Expr>(statement);
  const auto *assignment = e ? dyn_cast<BinaryOperator>(bare(e)) : nullptr;
  if (!assignment || assignment->getOpcode() != BO_Assign) return {};
  return {assignment->getLHS(), assignment->getRHS()};
}

const VarDecl *declared(const Stmt *statement) {
  const auto *declaration = dyn_cast_or_null<DeclStmt>(statement);
  const auto *variable = declaration && declaration->isSingleDecl()
                             ? dyn_cast<VarDecl>(declaration->getSingleDecl())
                             : nullptr;
  return variable && variable->hasLocalStorage() ? variable : nullptr;
}

std::optional<Loop> SortReader::loop(const Stmt *statement) const {
  const auto *written = dyn_cast_or_null<ForStmt>(statement);
  if (!written || !isa_and_nonnull<DeclStmt>(written->getInit())) return {};
  std::string why;
  auto loop = read_loop(written, unit_.ast, why);
  if (!loop || loop->step != 1) return {};
  return loop;
}

std::optional<long> SortReader::last_of(const Loop &loop) {
  const MaybeForm bound = value_(loop.bound);
  if (!bound || !bound->is_constant()) return {};
  return bound->high - (loop.inclusive() ? 0 : 1);
}

bool SortReader::is_number(const Expr *e, long number) {
  const MaybeForm form = value_(e);
  return form && *form == LinearForm::number(number);
}

Element SortReader::element(const Expr *e) const {
  const auto *subscript = dyn_cast<ArraySubscriptExpr>(bare(e));
  const VarDecl *array = subscript ? variable_of(subscript->getBase()) : nullptr;
  const auto *type = array ? unit_.ast.getAsArrayType(array->getType()) : nullptr;
  if (!type || !type->getElementType()->isIntegerType() ||
      !(kernel_.window.own.count(array) || kernel_.window.initialised.count(array)))
    return {};
  const Expr *index = bare(subscript->getIdx());
  if (const VarDecl *variable = variable_of(index)) return {array, variable, 0};
  const auto *sum = dyn_cast<BinaryOperator>(index);
  if (!sum || (sum->getOpcode() != BO_Add && sum->getOpcode() != BO_Sub)) return {};
  const VarDecl *variable = variable_of(sum->getLHS());
  const auto offset = constant_of(sum->getRHS(), unit_.ast);
  if (!variable || !offset) return {};
  return {array, variable, sum->getOpcode() == BO_Add ? *offset : -*offset};
}

std::optional<long> SortReader::size_of(const VarDecl *array) {
  const auto *type = unit_.ast.getAsArrayType(array->getType());
  if (const auto *known = dyn_cast<ConstantArrayType>(type))
    return known->getSize().getLimitedValue(kMostSorted + 1);
  const auto *variable = dyn_cast<VariableArrayType>(type);
  const MaybeForm size = variable ? value_(variable->getSizeExpr()) : MaybeForm();
  if (!size || !size->is_number()) return {};
  return size->low;
}

bool SortReader::holds_all(QualType type, const VarDecl *array) const {
  const QualType element = unit_.ast.getAsArrayType(array->getType())->getElementType();
  if (unit_.ast.hasSameUnqualifiedType(type, element)) return true;
  return type->isIntegerType() && unit_.ast.getTypeSize(type) > unit_.ast.getTypeSize(element) &&
         (type->isSignedIntegerType() || element->isUnsignedIntegerType());
}

bool SortReader::swaps(const Stmt *code, const Element &a, const Element &b) const {
  const auto is_either = [&](const Element &x, const Element &y) {
    return (x == a && y == b) || (x == b && y == a);
  };
  if (const auto *call = dyn_cast_or_null<CallExpr>(only(code))) {
    const FunctionDecl *function = call->getDirectCallee();
    return function && function->getIdentifier() && function->getName() == "swap" &&
           !unit_.in_file(function->getLocation()) && call->getNumArgs() == 2 &&
           is_either(element(call->getArg(0)), element(call->getArg(1)));
  }
  const auto *block = dyn_cast<CompoundStmt>(code);
  if (!block || block->size() != 3) return false;
  const auto *statements = block->body_begin();
  const VarDecl *kept = declared(statements[0]);
  const auto [first_to, first_from] = assigned(statements[1]);
  const auto [second_to, second_from] = assigned(statements[2]);
  // A narrower type would change the value.
  if (!kept || !kept->getInit() || !first_to || !second_to || !holds_all(kept->getType(), a.array))
    return false;
  const Element first = element(kept->getInit()), second = element(first_from);
  return is_either(first, second) && element(first_to) == first && element(second_to) == second &&
         variable_of(second_from) == kept;
}

}  // namespace cudascan::gswo
