// SPDX-License-Identifier: LGPL-2.1-or-later
// Replaces loops that sort an array of the window by a sorting network, which needs fewer steps.
#include <clang/AST/ParentMapContext.h>

#include <algorithm>

#include "gswo/sorts.h"

namespace cudascan::gswo {

using namespace clang;

namespace {

/// Reads loops that exchange numbers.
class Exchanges : SortReader {
 public:
  using SortReader::SortReader;

  std::optional<Sort> read(const ForStmt *statement) {
    const auto outer = loop(statement);
    if (!outer) return {};
    const auto inner = loop(only(statement->getBody()));
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
    if (!numbers || *numbers > kMostSorted || !turns || *turns < 1) return {};
    const bool from_first = is_number(outer->first, 0);
    const Element i{first.array, outer->variable, 0}, j{first.array, inner->variable, 0},
        next{first.array, inner->variable, 1};
    // Each number is compared with all later ones.
    if (from_first && first == i && second == j && follows(inner->first, outer->variable, 1)) {
      const auto end = last_of(*inner);
      if (!end || *end >= *numbers || *turns > *end + 1) return {};
      if (!is_number(inner->bound, inner->inclusive() ? *end : *end + 1)) return {};
      return Sort{statement, first.array, *end + 1, *turns, {}};
    }
    // Neighbours are compared repeatedly (bubble sort).
    if (first == j && second == next && is_number(inner->first, 0)) {
      const auto end = last_of(*inner);  // at the most
      if (!end || *end + 1 >= *numbers || *turns <= *end) return {};
      const bool all = is_number(inner->bound, inner->inclusive() ? *end : *end + 1);
      if (!all && !(from_first && shrinks(*inner, outer->variable, *end))) return {};
      return Sort{statement, first.array, *end + 2, *end + 2, {}};
    }
    return {};
  }

 private:
  /// Whether an expression is written as variable + offset.
  bool follows(const Expr *e, const VarDecl *variable, long offset) const {
    const auto *sum = dyn_cast<BinaryOperator>(bare(e));
    if (!sum || sum->getOpcode() != BO_Add) return false;
    const auto number = constant_of(sum->getRHS(), unit_.ast);
    return variable_of(sum->getLHS()) == variable && number == offset;
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
};

/// Decides whether a network gives later code the same numbers.
class Uses {
 public:
  Uses(const Unit &unit, const Kernel &kernel)
      : unit_(unit), kernel_(kernel), value_(unit, kernel.nest, kernel.window) {}

  bool allow(const Sort &sort) {
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

/// The length of a window's row, or in a volume of its slice, if it divides the numbers.
long run_of(const Kernel &kernel, long numbers) {
  long run = 1;
  for (const Image &i : kernel.images) {
    const long row = i.x1 - i.x0 + 1L, slice = row * (i.y1 - i.y0 + 1L);
    for (const long part : {row, i.z1 > i.z0 ? slice : row})
      if (i.read && i.known && numbers % part == 0) run = std::max(run, part);
  }
  return run;
}

/// Replaces text, with its edits, by one line and as many empty ones as keep the numbers of lines.
void replace(const Unit &unit, Edits &edits, Range range, const std::string &text) {
  for (auto edit = edits.begin(); edit != edits.end();)
    edit =
        edit->begin >= range.begin && edit->end <= range.end ? edits.erase(edit) : std::next(edit);
  const std::string before = unit.text(range);
  const auto lines = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  edits.insert({range.begin, range.end, text + std::string(lines, '\n')});
}

}  // namespace

void find_sorts(const Unit &unit, Kernel &kernel) {
  std::vector<Sort> sorts;
  Exchanges exchanges(unit, kernel);
  for (const ForStmt *statement : kernel.window.loops)
    if (const auto sort = exchanges.read(statement)) sorts.push_back(*sort);
  find_insertions(unit, kernel, sorts);
  Uses uses(unit, kernel);
  for (const Sort &sort : sorts) {
    const auto whole = unit.extent(sort.statement);
    if (!whole || !uses.allow(sort)) continue;
    const std::string call = "gswo::sort_numbers<" + std::to_string(sort.numbers) + ", " +
                             std::to_string(run_of(kernel, sort.numbers)) + ">(" +
                             name_of(sort.array) + ");";
    if (sort.fill) {
      replace(unit, kernel.edits, {sort.fill->begin, sort.fill->end}, sort.fill->text);
      kernel.edits.insert({whole->end, whole->end, " " + call});
    } else {
      replace(unit, kernel.edits, *whole, call + "  // replaces loops that sort");
    }
    kernel.sorts = true;
  }
}

}  // namespace cudascan::gswo
