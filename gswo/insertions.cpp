// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds insertion sorts. An insertion moves the larger ones of `place` sorted numbers up by one and
// puts a number between:
//   int k = place; while (k > 0 && a[k - 1] > value) { a[k] = a[k - 1]; k--; } a[k] = value;
// with `while` or `for`, and with k for the free element or for the one below it.
#include <algorithm>

#include "gswo/sorts.h"

namespace cudascan::gswo {

using namespace clang;

namespace {

using Statements = std::vector<const Stmt *>;

struct Insertion {
  const VarDecl *array, *value, *variable;
  const Expr *place;
  Range range;
};

Statements statements_of(const Stmt *code) {
  const auto *block = dyn_cast<CompoundStmt>(code);
  return block ? Statements(block->body_begin(), block->body_end()) : Statements{code};
}

/// Whether code may end a loop, or one of its turns.
bool jumps(const Stmt *code) {
  if (!code) return false;
  if (isa<BreakStmt>(code) || isa<ContinueStmt>(code) || isa<ReturnStmt>(code) ||
      isa<GotoStmt>(code) || isa<LambdaExpr>(code))
    return true;
  return std::any_of(code->child_begin(), code->child_end(), jumps);
}

/// Whether a statement adds 1 to a variable (-1: subtracts it).
bool steps(const Stmt *statement, const VarDecl *variable, int by, const ASTContext &ast) {
  const auto *e = dyn_cast_or_null<Expr>(statement);
  if (!e) return false;
  e = bare(e);
  if (const auto *unary = dyn_cast<UnaryOperator>(e))
    return (by > 0 ? unary->isIncrementOp() : unary->isDecrementOp()) &&
           variable_of(unary->getSubExpr()) == variable;
  const auto *change = dyn_cast<CompoundAssignOperator>(e);
  return change && change->getOpcode() == (by > 0 ? BO_AddAssign : BO_SubAssign) &&
         variable_of(change->getLHS()) == variable && constant_of(change->getRHS(), ast) == 1;
}

bool is_variable(const Expr *e, const VarDecl *variable) {
  return e && variable_of(e) == variable;
}

/// The e of e - offset.
const Expr *place_of(const Expr *begin, long offset, const ASTContext &ast) {
  if (!begin || !offset) return begin;
  const auto *difference = dyn_cast<BinaryOperator>(bare(begin));
  return difference && difference->getOpcode() == BO_Sub &&
                 constant_of(difference->getRHS(), ast) == offset
             ? difference->getLHS()
             : nullptr;
}

class Insertions : SortReader {
 public:
  using SortReader::SortReader;

  /// A loop that sorts an array which is full.
  std::optional<Sort> read(const ForStmt *statement) {
    const auto outer = loop(statement);
    const auto last = outer ? last_of(*outer) : std::nullopt;
    if (!last || *last < 1 || !(is_number(outer->first, 0) || is_number(outer->first, 1)) ||
        !is_number(outer->bound, outer->inclusive() ? *last : *last + 1))
      return {};
    const VarDecl *array = sorted_by(statements_of(statement->getBody()), outer->variable);
    const auto numbers = array ? size_of(array) : std::nullopt;
    if (!numbers || *numbers > kMostSorted || *last >= *numbers) return {};
    return Sort{statement, array, *last + 1, *last + 1, {}};
  }

  /// Loops that fill an array and keep it sorted.
  std::vector<Sort> fills() {
    std::vector<Sort> found;
    for (const Stmt *statement : statements_of(kernel_.body))
      if (const auto outer = loop(statement); outer && !jumps(outer->statement->getBody()))
        find_fills({*outer}, found);
    return found;
  }

 private:
  /// The array whose number at `i` the code inserts among those before it.
  const VarDecl *sorted_by(Statements code, const VarDecl *i) {
    if (code.size() == 1) return exchanged(dyn_cast<ForStmt>(code[0]), i);
    if (code.size() != 4) return nullptr;
    for (const int at : {0, 1}) {  // the value's declaration
      const VarDecl *value = declared(code[at]);
      Statements others = code;
      others.erase(others.begin() + at);
      const auto found = insertion(others, 0);
      if (found && found->value == value && value->getInit() && is_variable(found->place, i) &&
          element(value->getInit()) == Element{found->array, i, 0} &&
          holds_all(value->getType(), found->array))
        return found->array;
    }
    return nullptr;
  }

  /// The same by exchanges: `for (int k = i; k > 0 && a[k - 1] > a[k]; k--) swap(a[k - 1], a[k]);`
  const VarDecl *exchanged(const ForStmt *inner, const VarDecl *i) {
    const VarDecl *k = inner ? declared(inner->getInit()) : nullptr;
    if (!k || !k->getInit() || !inner->getCond() || !steps(inner->getInc(), k, -1, unit_.ast))
      return nullptr;
    const auto *both = dyn_cast<BinaryOperator>(bare(inner->getCond()));
    const auto *test = both ? dyn_cast<BinaryOperator>(bare(both->getRHS())) : nullptr;
    const VarDecl *array = test ? element(test->getLHS()).array : nullptr;
    for (const long offset : {0, 1}) {
      const Element upper{array, k, offset}, lower{array, k, offset - 1};
      const auto is_upper = [&](const Expr *e) { return element(e) == upper; };
      if (array && is_variable(place_of(k->getInit(), offset, unit_.ast), i) &&
          goes_on(inner->getCond(), lower, is_upper) && swaps(inner->getBody(), upper, lower))
        return array;
    }
    return nullptr;
  }

  void find_fills(const std::vector<Loop> &around, std::vector<Sort> &found) {
    const Statements code = statements_of(around.back().statement->getBody());
    for (std::size_t at = 0; at < code.size(); ++at)
      if (const auto one = insertion(code, at)) {
        const Statements after(code.begin() + at + 3, code.end());
        if (const auto sort = fill(*one, after, around)) found.push_back(*sort);
      } else if (const auto inner = loop(code[at])) {
        auto loops = around;
        loops.push_back(*inner);
        find_fills(loops, found);
      }
  }

  /// @param after  the statements after the insertion in its block
  /// @param around  the loops around it, from the outermost
  std::optional<Sort> fill(const Insertion &one, const Statements &after,
                           const std::vector<Loop> &around) {
    long numbers = 1;
    for (const Loop &loop : around) {
      const auto turns = value_.turns(loop);
      if (!turns || *turns > kMostSorted || is_set(loop.variable)) return {};
      numbers *= *turns;
    }
    const auto size = size_of(one.array);
    const QualType type = unit_.ast.getAsArrayType(one.array->getType())->getElementType();
    const auto whole = unit_.extent(around.front().statement);
    const bool outlives = whole && unit_.place(one.array->getLocation()) < whole->begin;
    if (!size || numbers < 2 || numbers > std::min(*size, kMostSorted) || !outlives ||
        !unit_.ast.hasSameUnqualifiedType(one.value->getType(), type))
      return {};
    // Until all is sorted, nothing else may use the array.
    for (const Reference &r : kernel_.window.references) {
      const unsigned at = unit_.place(r.name);
      if (at >= one.range.begin && at < one.range.end) continue;
      if (r.variable == one.variable || (r.variable == one.array && at < whole->end)) return {};
    }
    if (!is_counted(one.place, after, around, whole->end)) return {};
    return Sort{
        around.front().statement, one.array, numbers, numbers,
        Edit{one.range.begin, one.range.end,
             name_of(one.array) + "[" + unit_.text(one.place) + "] = " + name_of(one.value) + ";"}};
  }

  /// Whether a place is the number of earlier turns of the innermost loop, all in all.
  /// @param end  where the outermost loop ends
  bool is_counted(const Expr *place, const Statements &after, const std::vector<Loop> &around,
                  unsigned end) {
    const VarDecl *variable = variable_of(place);
    long uses = 1;
    if (variable && variable == around.front().variable && around.size() == 1)
      return is_number(around.front().first, 0);
    if (variable) {
      uses = 2;  // itself and `variable++;`
      if (std::none_of(after.begin(), after.end(), [&](const Stmt *statement) {
            return steps(statement, variable, 1, unit_.ast);
          }))
        return false;
    } else {
      const auto *counted = dyn_cast<UnaryOperator>(bare(place));
      if (!counted || counted->getOpcode() != UO_PostInc) return false;
      variable = variable_of(counted->getSubExpr());
    }
    for (const Reference &r : kernel_.window.references)
      if (r.variable == variable && unit_.place(r.name) < end) --uses;
    return uses == 0 && begins_with_0(variable);
  }

  /// Whether each window declares a variable with the value 0.
  bool begins_with_0(const VarDecl *variable) const {
    if (!variable || !variable->hasLocalStorage() || !variable->getType()->isIntegerType() ||
        variable->getType()->isBooleanType() || !variable->getInit() ||
        constant_of(variable->getInit(), unit_.ast) != 0)
      return false;
    for (const Stmt *statement : statements_of(kernel_.body))
      if (const auto *declaration = dyn_cast<DeclStmt>(statement))
        for (const Decl *one : declaration->decls())
          if (one == variable) return true;
    return false;
  }

  /// The range of a statement that is not in a macro.
  std::optional<Range> typed(const Stmt *statement) const {
    return unit_.typed(statement->getSourceRange()) ? unit_.extent(statement) : std::nullopt;
  }

  bool is_set(const VarDecl *variable) const {
    const WindowBody &window = kernel_.window;
    return window.opaque.count(variable) || window.definitions.count(variable);
  }

  /// Three statements: k and where it begins, the loop that moves numbers up, and the assignment.
  std::optional<Insertion> insertion(const Statements &code, std::size_t at) const {
    if (at + 3 > code.size()) return {};
    const VarDecl *k = declared(code[at]);
    const auto [to, from] = assigned(code[at + 2]);
    const Element free = to ? element(to) : Element();
    const VarDecl *value = to ? variable_of(from) : nullptr;
    if (!k || !free.array || free.variable != k || !value || value == k ||
        (free.offset && free.offset != 1) || !k->getType()->isIntegerType() ||
        k->getType()->isBooleanType() || (free.offset && !k->getType()->isSignedIntegerType()))
      return {};
    const Expr *begin = k->getInit(), *condition = nullptr;
    Statements moves;
    if (const auto *turns = dyn_cast<WhileStmt>(code[at + 1])) {
      condition = turns->getCond();
      moves = statements_of(turns->getBody());
    } else if (const auto *turns = dyn_cast<ForStmt>(code[at + 1])) {
      condition = turns->getCond();
      moves = statements_of(turns->getBody());
      moves.push_back(turns->getInc());
      if (turns->getInit()) {
        const auto [variable, first] = assigned(turns->getInit());
        if (begin || !variable || variable_of(variable) != k) return {};
        begin = first;
      }
    }
    const Element below{free.array, k, free.offset - 1};
    const auto is_value = [&](const Expr *e) { return variable_of(e) == value; };
    if (!begin || !condition || moves.size() != 2 || !goes_on(condition, below, is_value) ||
        !steps(moves[1], k, -1, unit_.ast))
      return {};
    const auto [up, down] = assigned(moves[0]);
    const Expr *place = place_of(begin, free.offset, unit_.ast);
    const auto first = typed(code[at]), last = typed(code[at + 2]);
    if (!up || element(up) != free || element(down) != below || !place || !typed(place) || !first ||
        !last)
      return {};
    return Insertion{free.array, value, k, place, {first->begin, last->end}};
  }

  /// `k > 0 && a[k - 1] > value`, with `below` the element that is tested.
  template <typename IsValue>
  bool goes_on(const Expr *condition, const Element &below, IsValue is_value) const {
    const auto *both = dyn_cast<BinaryOperator>(bare(condition));
    if (!both || both->getOpcode() != BO_LAnd) return false;
    const auto *inside = dyn_cast<BinaryOperator>(bare(both->getLHS()));
    const auto *test = dyn_cast<BinaryOperator>(bare(both->getRHS()));
    if (!inside || !test || variable_of(inside->getLHS()) != below.variable) return false;
    const auto bound = constant_of(inside->getRHS(), unit_.ast);
    const long first = -below.offset;  // the least k with `below` in the array
    const auto relation = inside->getOpcode();
    if (relation == BO_GE ? bound != first
                          : (relation != BO_GT && relation != BO_NE) || bound != first - 1)
      return false;
    const Expr *larger = test->getLHS(), *smaller = test->getRHS();
    if (test->getOpcode() == BO_LT || test->getOpcode() == BO_LE)
      std::swap(larger, smaller);
    else if (test->getOpcode() != BO_GT && test->getOpcode() != BO_GE)
      return false;
    return element(larger) == below && is_value(smaller);
  }
};

}  // namespace

void find_insertions(const Unit &unit, const Kernel &kernel, std::vector<Sort> &found) {
  Insertions insertions(unit, kernel);
  for (const ForStmt *statement : kernel.window.loops)
    if (const auto sort = insertions.read(statement)) found.push_back(*sort);
  for (const Sort &sort : insertions.fills()) found.push_back(sort);
}

}  // namespace cudascan::gswo
