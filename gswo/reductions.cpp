// SPDX-License-Identifier: LGPL-2.1-or-later
// The variables of `reduction` clauses. Windows run in any order and see only a part of such a
// variable, so they may only add to it, in forms that give the same as the loop without pragmas.
#include <clang/AST/ExprCXX.h>
#include <clang/AST/ParentMapContext.h>

#include <algorithm>
#include <array>

#include "gswo/kernel.h"

namespace cudascan::gswo {

using namespace clang;

namespace {

struct Operation {
  const char *name;  ///< in the clause
  const char *type;  ///< in kernels/gswo/gswo_reduce.h
  const char *form;  ///< what windows may write
  BinaryOperatorKind with, assign;
};
constexpr std::array<Operation, 8> kOperations{{
    {"+", "Sum", "n += value", BO_Add, BO_AddAssign},
    {"&", "BitAnd", "n &= value", BO_And, BO_AndAssign},
    {"|", "BitOr", "n |= value", BO_Or, BO_OrAssign},
    {"^", "BitXor", "n ^= value", BO_Xor, BO_XorAssign},
    {"&&", "And", "n = n && value", BO_LAnd, BO_Comma},
    {"||", "Or", "n = n || value", BO_LOr, BO_Comma},
    {"min", "Min", "n = std::min(n, value)", BO_LT, BO_Comma},
    {"max", "Max", "n = std::max(n, value)", BO_GT, BO_Comma},
}};

const Operation &operation_of(const ReductionClause &clause) {
  return *std::find_if(kOperations.begin(), kOperations.end(),
                       [&](const Operation &o) { return clause.operation == o.name; });
}

class Finder {
 public:
  Finder(const Unit &unit, Kernel &kernel) : unit_(unit), kernel_(kernel) {}

  void find() {
    for (const ReductionClause &clause : kernel_.pragma->reductions) add(clause);
    for (std::size_t k = 0; k < kernel_.reductions.size(); ++k)
      check(kernel_.reductions[k], *operations_[k]);
  }

 private:
  void refuse(const std::string &message) { unit_.error(kernel_.pragma->begin, message); }

  const VarDecl *variable(const std::string &name) const {
    for (const Reference &r : kernel_.window.references)
      if (name_of(r.variable) == name && !kernel_.window.own.count(r.variable)) return r.variable;
    return nullptr;
  }

  void add(const ReductionClause &clause) {
    const std::string called = "'" + clause.name + "'";
    const VarDecl *v = variable(clause.name);
    if (!v) return refuse(called + " under 'reduction' is no variable that the windows change");
    if (kernel_.reduction(v)) return refuse(called + " is under 'reduction' twice");
    const auto place = unit_.place(v->getLocation());
    if (place > kernel_.parallel->open && place < kernel_.parallel->close)
      return refuse(called +
                    " under 'reduction' is declared in the block of 'parallel', which "
                    "ends before it can be used; declare it before");
    Reduction r;
    r.variable = v, r.name = clause.name;
    QualType type = v->getType().getNonReferenceType();
    const Operation &operation = operation_of(clause);
    if (type->isPointerType() || type->isArrayType()) {
      r.length = clause.length;
      if (const auto *array = unit_.ast.getAsConstantArrayType(type)) {
        r.known_length = static_cast<long>(array->getSize().getZExtValue());
        if (r.length.empty()) r.length = std::to_string(r.known_length);
      }
      if (r.length.empty())
        return refuse("the length of the table " + called + " is not known here; write reduction(" +
                      clause.operation + ":" + clause.name + "[:256])");
      if (!clause.length.empty()) r.known_length = number(clause.length);
      type = type->isPointerType() ? type->getPointeeType()
                                   : QualType(unit_.ast.getAsArrayType(type)->getElementType());
    } else if (!clause.length.empty()) {
      return refuse(called + " is no array, so it has no length");
    }
    r.type = unit_.type_name(type.getCanonicalType());
    r.operation = operation.type;
    r.size = static_cast<std::size_t>(unit_.ast.getTypeSizeInChars(type).getQuantity());
    if (!check_type(r, type, clause.operation)) return;
    kernel_.reductions.push_back(std::move(r));
    operations_.push_back(&operation);
  }

  static long number(const std::string &text) {
    const bool digits =
        text.size() < 9 && text.find_first_not_of("0123456789") == std::string::npos;
    return digits ? std::stol(text) : 0;
  }

  bool check_type(const Reduction &r, QualType type, const std::string &operation) {
    const std::string called = "'" + r.name + "' under 'reduction'";
    const bool whole = type->isIntegerType() && !type->isEnumeralType();
    if (unit_.is_constant(type)) return refuse(called + " is const"), false;
    if (r.is_table()) {
      if (operation != "+") return refuse(called + " is a table, which only + can add to"), false;
      if (whole && unit_.ast.getTypeSize(type) >= 32) return true;
      return refuse("the elements of " + called + " are '" + r.type +
                    "'; tables are of int, unsigned, long or long long"),
             false;
    }
    const bool extreme = operation == "min" || operation == "max";
    if (whole || (extreme && type->isFloatingType() && unit_.ast.getTypeSize(type) <= 64))
      return true;
    if (type->isFloatingType())
      return refuse(called +
                    " is a real number, whose sum depends on the order of the windows; "
                    "add up whole numbers, such as long long"),
             false;
    return refuse(called + " is of type '" + r.type + "'; it must be a number or an array"), false;
  }

  // ---- What windows do with it

  void check(const Reduction &r, const Operation &operation) {
    explained_.clear();
    if (!r.is_table()) {
      for (const BinaryOperator *set : kernel_.window.assignments)
        if (variable_of(set->getLHS()) == r.variable) explain(set, r, operation);
    }
    for (const Reference &reference : kernel_.window.references)
      if (reference.variable == r.variable && !explained_.count(reference.name) &&
          !is_change(reference, r, operation))
        unit_.error(unit_.place(reference.name),
                    "windows can only add to '" + r.name +
                        "', which is under 'reduction'; write it as in '" +
                        (r.is_table() ? "table[index] += value" : operation.form) + "'");
    for (const Loop &loop : kernel_.nest)
      for (const Expr *e : {loop.first, loop.bound})
        if (mentions(e, r.variable))
          unit_.error(unit_.place(e), "the bounds of the loops depend on '" + r.name +
                                          "', which the windows change; use another variable");
  }

  static bool mentions(const Stmt *s, const VarDecl *v) {
    const auto names = variables_in(s);
    return std::find(names.begin(), names.end(), v) != names.end();
  }

  const Stmt *parent(const Stmt *s) const {
    const auto parents = unit_.ast.getParents(*s);
    return parents.empty() ? nullptr : parents[0].get<Stmt>();
  }

  /// Whether nobody uses the value of an expression.
  bool is_statement(const Expr *e) const {
    const Stmt *child = e, *s = parent(child);
    for (; s; child = s, s = parent(s)) {
      const auto *comma = dyn_cast<BinaryOperator>(s);
      if (comma && comma->getOpcode() == BO_Comma && comma->getLHS() == child) return true;
      const bool passes = isa<ParenExpr>(s) || isa<ExprWithCleanups>(s) ||
                          (comma && comma->getOpcode() == BO_Comma);
      if (!passes) break;
    }
    if (const auto *choice = dyn_cast_or_null<IfStmt>(s)) return child != choice->getCond();
    if (const auto *loop = dyn_cast_or_null<ForStmt>(s)) return child != loop->getCond();
    if (const auto *loop = dyn_cast_or_null<WhileStmt>(s)) return child != loop->getCond();
    if (const auto *loop = dyn_cast_or_null<DoStmt>(s)) return child != loop->getCond();
    return s && (isa<CompoundStmt>(s) || isa<SwitchCase>(s) || isa<LabelStmt>(s));
  }

  /// Whether it is n++, or an element of a table that is changed.
  bool is_change(const Reference &reference, const Reduction &r, const Operation &operation) const {
    const Expr *target = reference.name;
    if (r.is_table()) {
      const auto subscript =
          std::find_if(kernel_.window.subscripts.begin(), kernel_.window.subscripts.end(),
                       [&](const Subscript &s) { return s.name == reference.name; });
      if (subscript == kernel_.window.subscripts.end() || subscript->indices.size() != 1)
        return false;
      target = subscript->expression;
    }
    const Stmt *s = parent(target);
    while (s && isa<ParenExpr>(s)) s = parent(s);
    const bool sum = operation.with == BO_Add;
    if (const auto *unary = dyn_cast_or_null<UnaryOperator>(s))
      return sum && unary->isIncrementDecrementOp() && is_statement(unary);
    const auto *set = dyn_cast_or_null<CompoundAssignOperator>(s);
    return r.is_table() && set && bare(set->getLHS()) == target && is_statement(set) &&
           (set->getOpcode() == BO_AddAssign || set->getOpcode() == BO_SubAssign) &&
           !mentions(set->getRHS(), r.variable);
  }

  /// Explains the names in a change, if it has one of the known forms.
  void explain(const BinaryOperator *set, const Reduction &r, const Operation &operation) {
    if (!is_statement(set)) return;
    const VarDecl *v = r.variable;
    const Expr *value = bare(set->getRHS());
    const bool sum = operation.with == BO_Add;
    if (set->getOpcode() != BO_Assign) {
      const bool is_or = operation.with == BO_LOr && set->getOpcode() == BO_OrAssign,
                 is_and = operation.with == BO_LAnd && set->getOpcode() == BO_AndAssign;
      const bool good = set->getOpcode() == operation.assign ||
                        (sum && set->getOpcode() == BO_SubAssign) ||
                        ((is_or || is_and) && v->getType().getNonReferenceType()->isBooleanType());
      if (good && !mentions(value, v)) explain_names(set, v);
      return;
    }
    if (const auto *binary = dyn_cast<BinaryOperator>(value)) {
      const bool left = variable_of(binary->getLHS()) == v && !mentions(binary->getRHS(), v),
                 right = variable_of(binary->getRHS()) == v && !mentions(binary->getLHS(), v);
      if ((binary->getOpcode() == operation.with && !is_extreme(operation) && (left || right)) ||
          (sum && binary->getOpcode() == BO_Sub && left))
        return explain_names(set, v);
    }
    if (is_extreme(operation) && (is_call(value, v, operation) || is_choice(value, v, operation)))
      return explain_names(set, v);
    if (mentions(value, v)) return;
    if (const auto *test = condition_of(set); test && is_extreme(operation)) {
      if (compares(test, value, v, operation)) explain_names(set, v), explain_names(test, v);
      return;
    }
    // n = true, under conditions of the window
    Expr::EvalResult constant;
    if ((operation.with == BO_LOr || operation.with == BO_LAnd) &&
        value->EvaluateAsRValue(constant, unit_.ast) && constant.Val.isInt() &&
        constant.Val.getInt().getBoolValue() == (operation.with == BO_LOr))
      explain_names(set, v);
  }

  static bool is_extreme(const Operation &o) { return o.with == BO_LT || o.with == BO_GT; }

  /// max(n, value)
  bool is_call(const Expr *e, const VarDecl *v, const Operation &operation) const {
    const auto *call = dyn_cast<CallExpr>(e);
    const FunctionDecl *f = call ? call->getDirectCallee() : nullptr;
    if (!f || call->getNumArgs() != 2) return false;
    const std::string name = f->getNameAsString();
    if (name != operation.name && name != std::string("f") + operation.name) return false;
    const Expr *a = call->getArg(0), *b = call->getArg(1);
    return (variable_of(a) == v && !mentions(b, v)) || (variable_of(b) == v && !mentions(a, v));
  }

  /// value > n ? value : n
  bool is_choice(const Expr *e, const VarDecl *v, const Operation &operation) const {
    const auto *choice = dyn_cast<ConditionalOperator>(e);
    const auto *test = choice ? dyn_cast<BinaryOperator>(bare(choice->getCond())) : nullptr;
    if (!test || !test->isRelationalOp()) return false;
    const bool first = variable_of(choice->getFalseExpr()) == v;
    const Expr *value = first ? choice->getTrueExpr() : choice->getFalseExpr();
    if (variable_of(first ? choice->getFalseExpr() : choice->getTrueExpr()) != v) return false;
    return compares(test, value, v, operation, !first);
  }

  /// Whether a test asks if `value` is beyond `v` (or the reverse).
  bool compares(const BinaryOperator *test, const Expr *value, const VarDecl *v,
                const Operation &operation, bool reverse = false) const {
    BinaryOperatorKind kind = test->getOpcode();
    const Expr *other = test->getLHS();
    if (variable_of(other) == v)
      other = test->getRHS(), kind = BinaryOperator::reverseComparisonOp(kind);
    else if (variable_of(test->getRHS()) != v)
      return false;
    const bool greater = kind == BO_GT || kind == BO_GE;
    return !mentions(value, v) && unit_.text(bare(other)) == unit_.text(bare(value)) &&
           greater == ((operation.with == BO_GT) != reverse);
  }

  /// The test of the `if` whose only statement this is.
  const BinaryOperator *condition_of(const Stmt *child) const {
    const Stmt *s = parent(child);
    for (; s; child = s, s = parent(s)) {
      const auto *block = dyn_cast<CompoundStmt>(s);
      if (!(block && block->size() == 1) && !isa<ExprWithCleanups>(s)) break;
    }
    const auto *choice = dyn_cast_or_null<IfStmt>(s);
    if (!choice || choice->getThen() != child || choice->getElse()) return nullptr;
    const auto *test = dyn_cast<BinaryOperator>(bare(choice->getCond()));
    return test && test->isRelationalOp() ? test : nullptr;
  }

  void explain_names(const Expr *e, const VarDecl *v) {
    for (const Reference &r : kernel_.window.references)
      if (r.variable == v && contains(e, r.name)) explained_.insert(r.name);
  }
  static bool contains(const Stmt *outer, const Stmt *inner) {
    return outer == inner ||
           std::any_of(outer->child_begin(), outer->child_end(),
                       [&](const Stmt *child) { return child && contains(child, inner); });
  }

  const Unit &unit_;
  Kernel &kernel_;
  std::vector<const Operation *> operations_;
  std::set<const Expr *> explained_;
};

}  // namespace

void find_reductions(const Unit &unit, Kernel &kernel) {
  Finder(unit, kernel).find();
}

}  // namespace cudascan::gswo
