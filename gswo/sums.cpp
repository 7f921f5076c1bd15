// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds loops that add up the samples of a rectangle. If all partial sums are exact, their order
// does not matter, so on the CPU neighbouring windows share the sums of columns.
#include <algorithm>

#include "gswo/flat_index.h"

namespace cudascan::gswo {

using namespace clang;

namespace {

/// Most different rectangles of an image: each needs memory for its sums.
constexpr std::size_t kMostBoxes = 4;
/// What it costs to store the sums of columns and of rectangles, and to load them, in additions.
constexpr long kMemory = 8;

/// The one statement of a block, or the statement itself.
const Stmt *only(const Stmt *statement) {
  const auto *block = dyn_cast_or_null<CompoundStmt>(statement);
  return !block ? statement : block->size() == 1 ? block->body_front() : nullptr;
}

/// Counts names of a variable in sums and differences; nothing for other expressions.
std::optional<int> names_in_sum(const Expr *e, const VarDecl *variable, const ASTContext &ast) {
  e = bare(e);
  if (const VarDecl *named = variable_of(e)) return named == variable ? 1 : 0;
  if (constant_of(e, ast)) return 0;
  if (const auto *sign = dyn_cast<UnaryOperator>(e))
    return sign->getOpcode() == UO_Minus || sign->getOpcode() == UO_Plus
               ? names_in_sum(sign->getSubExpr(), variable, ast)
               : std::nullopt;
  const auto *sum = dyn_cast<BinaryOperator>(e);
  if (!sum || (sum->getOpcode() != BO_Add && sum->getOpcode() != BO_Sub)) return {};
  const auto left = names_in_sum(sum->getLHS(), variable, ast),
             right = names_in_sum(sum->getRHS(), variable, ast);
  if (!left || !right) return {};
  return *left + *right;
}

class Finder {
 public:
  Finder(const Unit &unit, Kernel &kernel)
      : unit_(unit),
        kernel_(kernel),
        value_(unit, kernel.nest, kernel.window),
        flat_(unit, kernel, value_) {}

  void read(const ForStmt *statement) {
    const auto place = unit_.typed(statement->getForLoc());
    const auto outer = loop(statement);
    if (!place || !outer || is_in_a_loop(statement)) return;
    const auto inner = loop(dyn_cast_or_null<ForStmt>(only(statement->getBody())));
    if (!inner) return;
    const auto *e = dyn_cast_or_null<Expr>(only(inner->statement->getBody()));
    const auto *addition = e ? dyn_cast<CompoundAssignOperator>(bare(e)) : nullptr;
    if (!addition || addition->getOpcode() != BO_AddAssign) return;
    const VarDecl *total = variable_of(addition->getLHS());
    if (!total || !starts_at_zero(total, statement)) return;
    for (const Subscript &s : kernel_.window.subscripts) {
      if (s.expression != bare(addition->getRHS())) continue;
      Image *image = kernel_.image(s.array);
      if (!image || !image->read || image->written || !image->known) return;
      auto box = read_box(s, *outer, *inner);
      if (!box) box = read_box(s, *inner, *outer);
      if (box) add(*image, *box, total, *place);
      return;
    }
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

  bool is_in_a_loop(const Stmt *statement) const {
    const auto holds = [&](const Stmt *other) {
      return other != statement && unit_.place(other) <= unit_.place(statement) &&
             unit_.place(statement) <= unit_.place(other->getEndLoc());
    };
    return holds_loop(kernel_.body, holds);
  }
  template <typename Holds>
  static bool holds_loop(const Stmt *code, const Holds &holds) {
    for (const Stmt *child : code->children()) {
      if (!child) continue;
      const bool repeats = isa<ForStmt>(child) || isa<WhileStmt>(child) || isa<DoStmt>(child) ||
                           isa<CXXForRangeStmt>(child) || isa<LambdaExpr>(child);
      if ((repeats && holds(child)) || holds_loop(child, holds)) return true;
    }
    return false;
  }

  /// Whether a variable of the window is a number that is 0 before a statement.
  bool starts_at_zero(const VarDecl *total, const ForStmt *statement) const {
    const QualType type = total->getType();
    const bool whole =
        type->isIntegerType() && !type->isEnumeralType() && unit_.ast.getTypeSize(type) >= 32;
    const bool real = type->isSpecificBuiltinType(BuiltinType::Float) ||
                      type->isSpecificBuiltinType(BuiltinType::Double);
    if (!(whole || real) || type.isVolatileQualified() || !kernel_.window.own.count(total) ||
        total->isStaticLocal() || !total->getInit())
      return false;
    Expr::EvalResult first;
    if (!total->getInit()->EvaluateAsRValue(first, unit_.ast)) return false;
    if (!(first.Val.isInt() ? first.Val.getInt() == 0
                            : first.Val.isFloat() && first.Val.getFloat().isZero()))
      return false;
    return std::none_of(kernel_.window.references.begin(), kernel_.window.references.end(),
                        [&](const Reference &r) {
                          return r.variable == total &&
                                 unit_.place(r.name) < unit_.place(statement);
                        });
  }

  /// The offsets in an index, if a loop counts through all of them once.
  std::optional<LinearForm> offsets(const std::vector<Term> &index, const Loop &position,
                                    const Loop &counts, const Loop &other) {
    int names = 0;
    for (const Term &term : index) {
      const auto here = names_in_sum(term.value, counts.variable, unit_.ast),
                 others = names_in_sum(term.value, other.variable, unit_.ast);
      if (!here || !others || *others) return {};
      names += *here;
    }
    const auto turns = value_.turns(counts);
    const MaybeForm form = flat_.sum(index);
    if (names != 1 || !turns || !form || form->clamped || !form->follows(position.variable) ||
        form->high - form->low + 1 != *turns)
      return {};
    return form;
  }

  std::optional<Box> read_box(const Subscript &s, const Loop &rows, const Loop &columns) {
    std::vector<Term> y, x;
    if (s.indices.size() == 2) {
      y = {{s.indices[0], 1}}, x = {{s.indices[1], 1}};
    } else {
      const auto parts = flat_.split(s.indices[0], false);
      if (!parts) return {};
      y = parts->row, x = parts->column;
    }
    const auto of_y = offsets(y, kernel_.rows(), rows, columns),
               of_x = offsets(x, kernel_.columns(), columns, rows);
    if (!of_y || !of_x) return {};
    return Box{static_cast<int>(of_y->low), static_cast<int>(of_y->high),
               static_cast<int>(of_x->low), static_cast<int>(of_x->high)};
  }

  void add(Image &image, const Box &box, const VarDecl *total, unsigned place) {
    const long rows = box.y1 - box.y0 + 1L, columns = box.x1 - box.x0 + 1L;
    if (rows * columns < rows + columns + kMemory) return;
    auto known = std::find(image.sums.begin(), image.sums.end(), box);
    if (known == image.sums.end()) {
      if (image.sums.size() >= kMostBoxes) return;
      known = image.sums.insert(known, box);
    }
    kernel_.edits.insert(
        {place, place,
         "GSWO_CPU_SUM(" + image.name + ", " + std::to_string(known - image.sums.begin()) + ", " +
             name_of(kernel_.columns().variable) + ", " + name_of(total) + ") /* instead of */ "});
  }

  const Unit &unit_;
  Kernel &kernel_;
  Evaluator value_;
  FlatIndex flat_;
};

}  // namespace

void find_sums(const Unit &unit, Kernel &kernel) {
  if (unit.options.emit == Emit::standalone || kernel.needs_program()) return;
  Finder finder(unit, kernel);
  for (const ForStmt *statement : kernel.window.loops) finder.read(statement);
}

}  // namespace cudascan::gswo
