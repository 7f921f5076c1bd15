// SPDX-License-Identifier: LGPL-2.1-or-later
// Replaces loops that sort an array of the window by a sorting network, which needs fewer steps.
#include <clang/AST/ParentMapContext.h>

#include <algorithm>

#include "gswo/kernel.h"
#include "gswo/window_body.h"

namespace cudascan::gswo {

using namespace clang;

namespace {

/// Most numbers for which a network is short enough.
constexpr long kMostNumbers = 81;

/// The one statement of a block, or the statement itself.
const Stmt *only(const Stmt *statement) {
  const auto *block = dyn_cast_or_null<CompoundStmt>(statement);
  return !block ? statement : block->size() == 1 ? block->body_front() : nullptr;
}

/// An element of an array: array[variable + offset].
struct Element {
  const VarDecl *array = nullptr, *variable = nullptr;
  long offset = 0;
  friend bool operator==(const Element &a, const Element &b) {
    return a.array == b.array && a.variable == b.variable && a.offset == b.offset;
  }
};

/// Loops that sort the first `sorted` of `numbers` numbers.
struct Sort {
  const ForStmt *statement;
  const VarDecl *array;
  long numbers, sorted;
};

class Finder {
 public:
  Finder(const Unit &unit, const Kernel &kernel)
      : unit_(unit), kernel_(kernel), value_(unit, kernel.nest, kernel.window) {}

  std::optional<Sort> read(const ForStmt *statement) {
    const auto outer = loop(statement);
    if (!outer) return {};
    const auto inner = loop(dyn_cast_or_null<ForStmt>(only(statement->getBody())));
    if (!inner) return {};
    const auto *choice = dyn_cast_or_null<IfStmt>(only(inner->statement->getBody()));
    if (!choice || choice->getElse() || choice->getInit() || choice->getConditionVariable())
      return {};
    const auto *test = dyn_cast<BinaryOperator>(bare(choice->getCond()));
    if (!test || (test->getOpcode() != BO_GT && test->getOpcode() != BO_LT)) return {};
    Element first = element(test->getLHS()), second = element(test->getRHS());
    if (test->getOpcode() == BO_LT) std::swap(first, second);  // first > second: exchange
    if (!first.array || first.array != second.array || !swaps(choice->getThen(), first, second))
      return {};
    const auto numbers = size_of(first.array);
    const auto turns = value_.turns(*outer);
    if (!numbers || *numbers > kMostNumbers || !turns || *turns < 1) return {};
    const bool from_first = is_number(outer->first, 0);
    const Element i{first.array, outer->variable, 0}, j{first.array, inner->variable, 0},
        next{first.array, inner->variable, 1};
    // Each number is compared with all later ones.
    if (from_first && first == i && second == j && follows(inner->first, outer->variable, 1)) {
      const auto end = last_of(*inner);
      if (!end || *end >= *numbers || *turns > *end + 1) return {};
      if (!is_number(inner->bound, inner->inclusive() ? *end : *end + 1)) return {};
      return Sort{statement, first.array, *end + 1, *turns};
    }
    // Neighbours are compared repeatedly (bubble sort).
    if (first == j && second == next && is_number(inner->first, 0)) {
      const auto end = last_of(*inner);  // at the most
      if (!end || *end + 1 >= *numbers || *turns <= *end) return {};
      const bool all = is_number(inner->bound, inner->inclusive() ? *end : *end + 1);
      if (!all && !(from_first && shrinks(*inner, outer->variable, *end))) return {};
      return Sort{statement, first.array, *end + 2, *end + 2};
    }
    return {};
  }

  /// Whether later uses of the array get the same result.
  bool is_enough(const Sort &sort) {
    if (in_a_loop(sort.statement)) return false;
    const auto range = unit_.typed(sort.statement->getSourceRange());
    if (!range) return false;
    if (sort.sorted + 1 >= sort.numbers) return true;
    for (const Reference &r : kernel_.window.references)
      if (r.variable == sort.array && unit_.place(r.name) >= range->end && !is_sorted(r, sort))
        return false;
    return true;
  }

 private:
  /// A loop that counts upwards by one in its own variable.
  std::optional<Loop> loop(const ForStmt *statement) const {
    if (!statement || !isa_and_nonnull<DeclStmt>(statement->getInit())) return {};
    std::string why;
    auto loop = read_loop(statement, unit_.ast, why);
    if (!loop || loop->step != 1) return {};
    return loop;
  }

  Element element(const Expr *e) {
    const auto *subscript = dyn_cast<ArraySubscriptExpr>(bare(e));
    if (!subscript) return {};
    const VarDecl *array = variable_of(subscript->getBase());
    const Expr *index = bare(subscript->getIdx());
    if (!array || !is_own(array)) return {};
    if (const VarDecl *variable = variable_of(index)) return {array, variable, 0};
    const auto *sum = dyn_cast<BinaryOperator>(index);
    if (!sum || sum->getOpcode() != BO_Add) return {};
    const VarDecl *variable = variable_of(sum->getLHS());
    const auto offset = constant_of(sum->getRHS(), unit_.ast);
    if (!variable || !offset) return {};
    return {array, variable, *offset};
  }

  /// An array of integers; floating-point numbers may be NaN or have two zeros.
  bool is_own(const VarDecl *array) const {
    const auto *type = unit_.ast.getAsArrayType(array->getType());
    return type && type->getElementType()->isIntegerType() &&
           (kernel_.window.own.count(array) || kernel_.window.initialised.count(array));
  }

  std::optional<long> size_of(const VarDecl *array) {
    const auto *type = unit_.ast.getAsArrayType(array->getType());
    if (const auto *known = dyn_cast<ConstantArrayType>(type))
      return known->getSize().getLimitedValue(kMostNumbers + 1);
    const auto *variable = dyn_cast<VariableArrayType>(type);
    const MaybeForm size = variable ? value_(variable->getSizeExpr()) : MaybeForm();
    if (!size || !size->is_number()) return {};
    return size->low;
  }

  bool is_number(const Expr *e, long number) {
    const MaybeForm form = value_(e);
    return form && *form == LinearForm::number(number);
  }

  /// Whether an expression is written as variable + offset.
  bool follows(const Expr *e, const VarDecl *variable, long offset) const {
    const auto *sum = dyn_cast<BinaryOperator>(bare(e));
    if (!sum || sum->getOpcode() != BO_Add) return false;
    const auto number = constant_of(sum->getRHS(), unit_.ast);
    return variable_of(sum->getLHS()) == variable && number == offset;
  }

  /// The largest value of the loop's variable.
  std::optional<long> last_of(const Loop &loop) {
    const MaybeForm bound = value_(loop.bound);
    if (!bound || !bound->is_constant()) return {};
    return bound->high - (loop.inclusive() ? 0 : 1);
  }

  /// Whether the bound of a loop is `end` minus the outer loop's variable.
  bool shrinks(const Loop &inner, const VarDecl *outer, long end) {
    const auto *difference = dyn_cast<BinaryOperator>(bare(inner.bound));
    const long first = inner.inclusive() ? end : end + 1;
    if (!difference || difference->getOpcode() != BO_Sub) return false;
    if (variable_of(difference->getRHS()) == outer) return is_number(difference->getLHS(), first);
    const auto *rest = dyn_cast<BinaryOperator>(bare(difference->getLHS()));  // n - i - 1
    const auto number = constant_of(difference->getRHS(), unit_.ast);
    return rest && number && rest->getOpcode() == BO_Sub && variable_of(rest->getRHS()) == outer &&
           is_number(rest->getLHS(), first + *number);
  }

  /// `t = a; a = b; b = t;` with a t of its own, or swap(a, b).
  bool swaps(const Stmt *code, const Element &a, const Element &b) {
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
    const auto *declared = dyn_cast<DeclStmt>(block->body_begin()[0]);
    const auto *kept = declared && declared->isSingleDecl()
                           ? dyn_cast<VarDecl>(declared->getSingleDecl())
                           : nullptr;
    const auto set = [&](int n) -> const BinaryOperator * {
      const auto *e = dyn_cast<Expr>(block->body_begin()[n]);
      const auto *assignment = e ? dyn_cast<BinaryOperator>(bare(e)) : nullptr;
      return assignment && assignment->getOpcode() == BO_Assign ? assignment : nullptr;
    };
    if (!kept || !kept->getInit() || !set(1) || !set(2)) return false;
    // A narrower type would change the value.
    if (!holds_all(kept->getType(), a.array)) return false;
    const Element first = element(kept->getInit()), second = element(set(1)->getRHS());
    return is_either(first, second) && element(set(1)->getLHS()) == first &&
           element(set(2)->getLHS()) == second && variable_of(set(2)->getRHS()) == kept;
  }

  bool holds_all(QualType type, const VarDecl *array) const {
    const QualType element = unit_.ast.getAsArrayType(array->getType())->getElementType();
    return unit_.ast.hasSameUnqualifiedType(type, element) ||
           (type->isIntegerType() && unit_.ast.getTypeSize(type) > unit_.ast.getTypeSize(element));
  }

  bool in_a_loop(const Stmt *statement) const {
    for (auto parents = unit_.ast.getParents(*statement); !parents.empty();
         parents = unit_.ast.getParents(parents[0])) {
      const auto *around = parents[0].get<Stmt>();
      if (around == kernel_.body) return false;
      if (around && (isa<ForStmt>(around) || isa<WhileStmt>(around) || isa<DoStmt>(around) ||
                     isa<LambdaExpr>(around)))
        return true;
    }
    return false;
  }

  /// Whether a name is an element whose final position is settled.
  bool is_sorted(const Reference &reference, const Sort &sort) {
    for (const Subscript &s : kernel_.window.subscripts)
      if (s.name == reference.name) {
        const MaybeForm index = value_(s.indices.front());
        return index && index->is_constant() && index->low >= 0 && index->high < sort.sorted;
      }
    return false;
  }

  const Unit &unit_;
  const Kernel &kernel_;
  Evaluator value_;
};

}  // namespace

void find_sorts(const Unit &unit, Kernel &kernel) {
  Finder finder(unit, kernel);
  for (const ForStmt *statement : kernel.window.loops) {
    const auto sort = finder.read(statement);
    if (!sort || !finder.is_enough(*sort)) continue;
    const auto whole = unit.extent(statement);
    if (!whole) continue;
    // The length of a window's row, or in a volume of its slice, if it divides the numbers.
    long run = 1;
    for (const Image &i : kernel.images) {
      const long row = i.x1 - i.x0 + 1L, slice = row * (i.y1 - i.y0 + 1L);
      for (const long part : {row, i.z1 > i.z0 ? slice : row})
        if (i.read && i.known && sort->numbers % part == 0) run = std::max(run, part);
    }
    for (auto edit = kernel.edits.begin(); edit != kernel.edits.end();)
      edit = edit->begin >= whole->begin && edit->end <= whole->end ? kernel.edits.erase(edit)
                                                                    : std::next(edit);
    const std::string before = unit.text(*whole);
    const auto lines = std::count(before.begin(), before.end(), '\n');
    kernel.edits.insert({whole->begin, whole->end,
                         "gswo::sort_numbers<" + std::to_string(sort->numbers) + ", " +
                             std::to_string(run) + ">(" + name_of(sort->array) +
                             ");  // replaces loops that exchange numbers" +
                             std::string(static_cast<std::size_t>(lines), '\n')});
    kernel.sorts = true;
  }
}

}  // namespace cudascan::gswo
