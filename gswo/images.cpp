// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds which arrays are images and where windows read and write them, and rewrites their
// subscripts.
#include <algorithm>
#include <array>

#include "gswo/kernel.h"

namespace cudascan::gswo {

using namespace clang;

namespace {

/// A term of a sum, with its sign.
struct Term {
  const Expr *value;
  int sign;
};

/// One subscript split into row * stride + column.
struct Split {
  std::string stride;
  const VarDecl *stride_variable = nullptr;
  std::vector<Term> row, column;
};

void add_terms(const Expr *e, int sign, std::vector<Term> &terms) {
  const auto *sum = dyn_cast<BinaryOperator>(bare(e));
  if (!sum || !sum->isAdditiveOp()) return terms.push_back({e, sign});
  add_terms(sum->getLHS(), sign, terms);
  add_terms(sum->getRHS(), sum->getOpcode() == BO_Sub ? -sign : sign, terms);
}

class Reader {
 public:
  Reader(const Unit &unit, Kernel &kernel)
      : unit_(unit), kernel_(kernel), value_(unit, kernel.nest, kernel.window) {}

  void read() {
    for (const Subscript &s : kernel_.window.subscripts) add_image(s);
    choose_columns();
    for (const Subscript &s : kernel_.window.subscripts)
      if (Image *image = kernel_.image(s.array)) read_offsets(s, *image);
    for (Image &image : kernel_.images) finish(image);
    rewrite();
  }

 private:
  bool is_own_pixel(const Subscript &s) {
    const auto [y, x] = offsets(s);
    return y && x && y->follows(kernel_.rows().variable) &&
           x->follows(kernel_.columns().variable) && y->low == 0 && y->high == 0 && x->low == 0 &&
           x->high == 0;
  }

  void add_image(const Subscript &s) {
    if (kernel_.window.own.count(s.array) || kernel_.image(s.array) || kernel_.reduction(s.array))
      return;
    bool moves = false;
    for (const Subscript &other : kernel_.window.subscripts)
      if (other.array == s.array)
        for (const Expr *index : other.indices) moves |= value_.depends_on_nest(index);
    // Subscripts of tables and of the windows' own arrays may depend on the position.
    const bool local = s.array->isLocalVarDecl() && s.array->getType()->isArrayType();
    if (!moves || local || (s.array->hasGlobalStorage() && unit_.is_constant(s.array->getType())))
      return;
    Image image;
    image.variable = s.array;
    image.name = name_of(s.array);
    QualType type = s.array->getType().getNonReferenceType();
    while (type->isPointerType() || type->isArrayType())
      type = type->isPointerType() ? type->getPointeeType()
                                   : QualType(unit_.ast.getAsArrayType(type)->getElementType());
    image.type = unit_.type_name(type.getCanonicalType());
    constexpr std::array kTypes{
        "unsigned char", "signed char", "char",          "unsigned short", "short",
        "unsigned int",  "int",         "unsigned long", "long",           "unsigned long long",
        "long long",     "float",       "double"};
    if (std::find(kTypes.begin(), kTypes.end(), image.type) == kTypes.end())
      unit_.error(unit_.place(s.expression),
                  "the pixels of '" + image.name + "' are '" + image.type +
                      "'; they have to be numbers, such as unsigned char or "
                      "float");
    image.dimensions = static_cast<int>(s.indices.size());
    for (const Pragma &p : unit_.notes.pragmas)
      image.texture |= (p.name == "copybytexture" || p.name == "copybindtexture") &&
                       p.arguments[0] == image.name;
    kernel_.images.push_back(std::move(image));
  }

  /// Rows and columns: the loop whose variable is in the last subscript of the written image, or of
  /// any image if none is written, counts columns.
  void choose_columns() {
    const std::vector<Subscript> &all = kernel_.window.subscripts;
    const bool writes = std::any_of(all.begin(), all.end(), [&](const Subscript &s) {
      return kernel_.image(s.array) && s.access.write;
    });
    for (const Subscript &s : all) {
      if (!kernel_.image(s.array) || s.access.write != writes) continue;
      const MaybeForm last = offsets(s).second;
      if (last && last->terms.count(kernel_.nest[0].variable) &&
          !last->terms.count(kernel_.nest[1].variable))
        kernel_.x = 0, kernel_.y = 1;
    }
  }

  /// Whether the factors in products that move with the window are constants.
  bool is_affine(const Stmt *s) {
    if (const auto *product = dyn_cast<BinaryOperator>(s);
        product && product->getOpcode() == BO_Mul)
      for (const Expr *factor : {product->getLHS(), product->getRHS()}) {
        const Expr *other = factor == product->getLHS() ? product->getRHS() : product->getLHS();
        const MaybeForm number = value_(other);
        if (value_.depends_on_nest(factor) && !(number && number->is_number())) return false;
      }
    if (isa<ArraySubscriptExpr>(s) || isa<CallExpr>(s)) return true;
    for (const Stmt *child : s->children())
      if (child && !is_affine(child)) return false;
    return true;
  }

  std::optional<Split> split(const Expr *index) {
    std::vector<Term> terms;
    add_terms(index, 1, terms);
    Split result;
    long largest = 1;
    const auto factors = [&](const Term &term, auto &&use) {
      const auto *product = dyn_cast<BinaryOperator>(bare(term.value));
      if (!product || product->getOpcode() != BO_Mul) return;
      if (value_.depends_on_nest(product->getLHS())) use(product->getRHS(), product->getLHS());
      if (value_.depends_on_nest(product->getRHS())) use(product->getLHS(), product->getRHS());
    };
    const auto is_fixed = [&](const Expr *e, const VarDecl *v) {
      return v && !kernel_.window.own.count(v) && !value_.depends_on_nest(e) &&
             v->getType().getNonReferenceType()->isIntegerType();
    };
    for (const Term &term : terms)
      factors(term, [&](const Expr *factor, const Expr *) {
        const VarDecl *v = variable_of(factor);
        if (!result.stride_variable && is_fixed(factor, v)) result.stride_variable = v;
      });
    for (const Term &term : terms)
      factors(term, [&](const Expr *factor, const Expr *) {
        const auto number = constant_of(factor, unit_.ast);
        if (!result.stride_variable && number && *number > largest)
          largest = *number, result.stride = unit_.text(factor);
      });
    if (result.stride_variable) result.stride = name_of(result.stride_variable);
    if (result.stride.empty()) return {};
    for (const Term &term : terms) {
      const Expr *row = nullptr;
      factors(term, [&](const Expr *factor, const Expr *other) {
        if (result.stride_variable ? variable_of(factor) == result.stride_variable
                                   : constant_of(factor, unit_.ast) == largest)
          row = other;
      });
      (row ? result.row : result.column).push_back({row ? row : term.value, term.sign});
    }
    for (const auto *part : {&result.row, &result.column})
      for (const Term &term : *part)
        if (!is_affine(term.value)) return {};
    return result;
  }

  MaybeForm sum(const std::vector<Term> &terms) {
    MaybeForm result = LinearForm::number(0);
    for (const Term &term : terms) result = plus(result, value_(term.value), term.sign);
    return result;
  }

  /// The row and the column of a subscript.
  std::pair<MaybeForm, MaybeForm> offsets(const Subscript &s) {
    if (s.indices.size() == 2) return {value_(s.indices[0]), value_(s.indices[1])};
    if (s.indices.size() != 1) return {};
    const auto parts = split(s.indices[0]);
    if (!parts) return {};
    return {sum(parts->row), sum(parts->column)};
  }

  /// Whether a statement compares an index with the end `low` or `high` of the image. Code that
  /// does so before it reads skips or replaces pixels outside.
  bool compares(const Stmt *s, const LinearForm &index, const Loop &loop, bool low) {
    if (!s) return false;
    if (const auto *e = dyn_cast<BinaryOperator>(s); e && e->isRelationalOp())
      for (const auto &[side, other] :
           {std::pair(e->getLHS(), e->getRHS()), std::pair(e->getRHS(), e->getLHS())}) {
        const MaybeForm form = value_(side), end = value_(other);
        if (!form || !end || !(*form == index)) continue;
        const MaybeForm bound = value_(loop.bound);
        if (low ? end->is_number() && (end->low == 0 || end->low == -1)
                : bound && !bound->is_constant() && end->terms == bound->terms)
          return true;
      }
    for (const Stmt *child : s->children())
      if (compares(child, index, loop, low)) return true;
    return false;
  }
  /// Whether this index never reads outside the image.
  bool is_watched(const LinearForm &index, const Loop &loop) {
    return (index.low >= 0 || compares(kernel_.body, index, loop, true)) &&
           (index.high <= 0 || compares(kernel_.body, index, loop, false));
  }

  void read_offsets(const Subscript &s, Image &image) {
    const unsigned at = unit_.place(s.expression);
    for (const Pragma &p : unit_.notes.pragmas) {
      image.in_transfer |= p.kind == PragmaKind::transfer && p.holds(at) && s.access.read;
      image.in_assign |=
          p.kind == PragmaKind::assign && p.open <= at && at < p.close && s.access.write;
    }
    if (s.access.escapes)
      return unit_.error(at,
                         "the address of a pixel of '" + image.name +
                             "' is taken, or it is passed by reference; copy it into a variable "
                             "first");
    if (s.indices.size() > 2 || static_cast<int>(s.indices.size()) != image.dimensions)
      return unit_.error(at, "'" + image.name + "' has " + std::to_string(s.indices.size()) +
                                 " subscripts here; write [row][column] or [row * width + column]");
    if (s.indices.size() == 1) {
      const auto parts = split(s.indices[0]);
      if (!parts)
        return unit_.error(at, "can't tell row and column in '" + unit_.text(s.expression) +
                                   "'; write [row * width + column], or [row][column]");
      if (!image.stride.empty() && image.stride != parts->stride)
        return unit_.error(at, "rows of '" + image.name + "' are '" + image.stride +
                                   "' wide above and '" + parts->stride + "' here; use one width");
      image.stride = parts->stride;
      image.stride_variable = parts->stride_variable;
    }
    const auto [y, x] = offsets(s);
    const bool known =
        y && x && y->follows(kernel_.rows().variable) && x->follows(kernel_.columns().variable);
    const bool own = is_own_pixel(s);
    if (s.access.write && !read_write(s, image, at, known ? &*y : nullptr, known ? &*x : nullptr))
      return;
    if (s.access.read && !(s.access.write && own)) {
      image.read = true;
      image.centred &= own;
      image.known &= known;
      if (!known) return;
      image.y0 = std::min(image.y0, static_cast<int>(y->low));
      image.y1 = std::max(image.y1, static_cast<int>(y->high));
      image.x0 = std::min(image.x0, static_cast<int>(x->low));
      image.x1 = std::max(image.x1, static_cast<int>(x->high));
      const bool beyond = y->low < 0 || y->high > 0 || x->low < 0 || x->high > 0;
      image.clamped |=
          y->clamped || x->clamped ||
          (beyond && is_watched(*y, kernel_.rows()) && is_watched(*x, kernel_.columns()));
    }
  }

  bool read_write(const Subscript &s, Image &image, unsigned at, const LinearForm *y,
                  const LinearForm *x) {
    const bool one = y && x && y->low == y->high && x->low == x->high && !y->clamped && !x->clamped;
    if (!one || (image.written && (image.write_y != y->low || image.write_x != x->low)))
      return unit_.error(at, "a window may write one pixel of its own, but '" +
                                 unit_.text(s.expression) +
                                 "' could be written by several windows; gather instead: let each "
                                 "window compute its pixel"),
             false;
    if (!s.access.plain && (y->low || x->low))
      return unit_.error(at,
                         "only the pixel in the middle of the window can be changed in place; "
                         "compute the value in a variable and set it with '='"),
             false;
    image.written = true;
    image.write_y = static_cast<int>(y->low);
    image.write_x = static_cast<int>(x->low);
    return true;
  }

  /// Whether each path through a statement sets the image with '='. `ended`: there may have been a
  /// 'continue'.
  bool always_sets(const Stmt *s, const Image &image, bool &ended) {
    if (!s || ended) return false;
    if (isa<ContinueStmt>(s)) return ended = true, false;
    if (const auto *block = dyn_cast<CompoundStmt>(s)) {
      for (const Stmt *child : block->body())
        if (always_sets(child, image, ended)) return true;
      return false;
    }
    if (const auto *choice = dyn_cast<IfStmt>(s)) {
      const bool yes = always_sets(choice->getThen(), image, ended);
      const bool no = always_sets(choice->getElse(), image, ended);
      return yes && no;
    }
    if (const auto *expression = dyn_cast<Expr>(s)) {
      const auto *set = dyn_cast<BinaryOperator>(expression->IgnoreParenImpCasts());
      const DeclRefExpr *name =
          set && set->getOpcode() == BO_Assign ? base_of(set->getLHS()) : nullptr;
      return name && name->getDecl() == image.variable;
    }
    for (const Stmt *child : s->children()) has_continue(child, ended);
    return false;
  }

  void has_continue(const Stmt *s, bool &ended) {
    if (!s || isa<ForStmt>(s) || isa<WhileStmt>(s) || isa<DoStmt>(s)) return;
    ended |= isa<ContinueStmt>(s);
    for (const Stmt *child : s->children()) has_continue(child, ended);
  }

  /// Chooses between a store and a register, and between one buffer and two.
  void finish(Image &image) {
    if (!image.written) return;
    bool ended = false, changes = false, first = true, read_first = false;
    image.always_written = always_sets(kernel_.body, image, ended);
    for (const Subscript &s : kernel_.window.subscripts) {
      if (s.array != image.variable) continue;
      if (first) read_first = !s.access.plain;
      changes |= s.access.write && !s.access.plain;
      // The window reads what it has written itself.
      changes |= !first && !read_first && s.access.read && is_own_pixel(s);
      first = false;
    }
    image.in_register = changes && image.centred && !image.write_y && !image.write_x;
    if (changes && !image.in_register) {
      for (const Subscript &s : kernel_.window.subscripts)
        if (s.array == image.variable && s.access.write)
          return unit_.error(unit_.place(s.expression),
                             "the window changes '" + image.name +
                                 "' step by step and reads its neighbours; compute the value in a "
                                 "variable and set the pixel once");
    }
    if (image.in_register) {
      // Its value before the filter matters only if the window may read it.
      image.read = !image.always_written || read_first;
      if (image.read) image.always_written = true;
    }
    if (image.in_place() && !image.centred)
      unit_.source.note(kernel_.pragma->begin,
                        "'" + image.name +
                            "' is filtered in place: every window reads the image as it "
                            "was before the filter, since windows are independent");
  }

  std::string joined(const std::vector<Term> &terms) const {
    std::string result;
    for (const Term &term : terms) {
      const auto range = unit_.typed(term.value->getSourceRange());
      const std::string text =
          range ? apply(unit_.source, *range, kernel_.edits) : unit_.text(term.value);
      const bool sum = isa<BinaryOperator>(bare(term.value)) && term.sign < 0;
      result += result.empty() ? (term.sign < 0 ? "-" : "") : (term.sign < 0 ? " - " : " + ");
      result += sum ? "(" + text + ")" : text;
    }
    return result.empty() ? "0" : result;
  }

  /// Gives subscripts their new names and two indices, nested ones first.
  void rewrite() {
    std::vector<const Subscript *> order;
    for (const Subscript &s : kernel_.window.subscripts)
      if (kernel_.image(s.array)) order.push_back(&s);
    std::reverse(order.begin(), order.end());
    for (const Subscript *s : order) {
      const Image &image = *kernel_.image(s->array);
      const auto range = unit_.typed(s->expression->getSourceRange());
      const auto name = unit_.typed(s->name->getSourceRange());
      const bool renamed = s->access.write && image.in_place();
      if (!image.in_register && !renamed && image.dimensions == 2) continue;
      if (!name || (!range && (image.in_register || image.dimensions == 1))) {
        unit_.error(unit_.place(s->expression), "'" + image.name +
                                                    "' is used in the text of a macro; "
                                                    "write its subscripts out here");
        continue;
      }
      const std::string called = renamed ? image.output() : image.name;
      if (image.in_register) {
        kernel_.edits.insert({range->begin, range->end, image.name + "_px"});
      } else if (image.dimensions == 2) {
        kernel_.edits.insert({name->begin, name->end, called});
      } else if (const auto parts = split(s->indices[0])) {
        kernel_.edits.insert(
            {range->begin, range->end,
             called + "[" + joined(parts->row) + "][" + joined(parts->column) + "]"});
      }
    }
  }

  const Unit &unit_;
  Kernel &kernel_;
  Evaluator value_;
};

}  // namespace

void find_images(const Unit &unit, Kernel &kernel) {
  Reader(unit, kernel).read();
}

}  // namespace cudascan::gswo
