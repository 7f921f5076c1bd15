// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds which arrays are images and where windows read and write them, and rewrites their
// subscripts.
#include <clang/AST/ExprCXX.h>

#include <algorithm>
#include <array>

#include "gswo/flat_index.h"

namespace cudascan::gswo {

using namespace clang;

namespace {

class Reader {
 public:
  Reader(const Unit &unit, Kernel &kernel)
      : unit_(unit),
        kernel_(kernel),
        value_(unit, kernel.nest, kernel.window),
        flat_(unit, kernel, value_) {}

  void read() {
    for (const Subscript &s : kernel_.window.subscripts) add_image(s);
    choose_columns();
    for (const Subscript &s : kernel_.window.subscripts)
      if (Image *image = kernel_.image(s.array)) read_offsets(s, *image);
    for (Image &image : kernel_.images) finish(image);
    rewrite();
  }

 private:
  /// Where a subscript is.
  struct Place {
    MaybeForm z, y, x;  ///< z: of volumes
  };

  bool is_known(const Place &p, bool volume) const {
    return p.y && p.x && p.y->follows(kernel_.rows().variable) &&
           p.x->follows(kernel_.columns().variable) &&
           (!volume || (p.z && p.z->follows(kernel_.slices().variable)));
  }
  bool is_own_pixel(const Subscript &s) {
    const Place p = offsets(s);
    const auto is_zero = [](const MaybeForm &f) { return f->low == 0 && f->high == 0; };
    const bool volume = kernel_.image(s.array)->is_volume;
    return is_known(p, volume) && is_zero(p.y) && is_zero(p.x) && (!volume || is_zero(p.z));
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
    image.size = static_cast<std::size_t>(unit_.ast.getTypeSizeInChars(type).getQuantity());
    image.record = type->getAsRecordDecl();
    constexpr std::array kTypes{
        "unsigned char", "signed char", "char",          "unsigned short", "short",
        "unsigned int",  "int",         "unsigned long", "long",           "unsigned long long",
        "long long",     "float",       "double"};
    if (!is_plain(image.record, type) &&
        std::find(kTypes.begin(), kTypes.end(), image.type) == kTypes.end())
      unit_.error(unit_.place(s.expression),
                  "the pixels of '" + image.name + "' are '" + image.type +
                      "'; they have to be numbers, such as unsigned char or float, or structures "
                      "that can be copied byte by byte and begin with any value");
    image.dimensions = static_cast<int>(s.indices.size());
    image.is_volume = kernel_.is_volume() && (image.dimensions == 3 || split_volume(s));
    for (const Pragma &p : unit_.notes.pragmas)
      image.texture |= (p.name == "copybytexture" || p.name == "copybindtexture") &&
                       p.arguments[0] == image.name;
    kernel_.images.push_back(std::move(image));
  }

  /// Whether a structure can be a pixel.
  bool is_plain(const RecordDecl *record, QualType type) const {
    const auto *object = dyn_cast_or_null<CXXRecordDecl>(record);
    return record && !record->isUnion() &&
           (!object || (type.isTriviallyCopyableType(unit_.ast) &&
                        object->hasTrivialDefaultConstructor() && object->hasTrivialDestructor()));
  }

  /// The loop whose variable is in the last subscript of the written image, or of any image if none
  /// is written, counts columns; the one in the subscript before that counts rows.
  void choose_columns() {
    const std::vector<Subscript> &all = kernel_.window.subscripts;
    const bool writes = std::any_of(all.begin(), all.end(), [&](const Subscript &s) {
      return kernel_.image(s.array) && s.access.write;
    });
    for (const Subscript &s : all) {
      if (!kernel_.image(s.array) || s.access.write != writes) continue;
      const Place place = offsets(s);
      const int x = loop_in(place.x), y = loop_in(place.y), z = loop_in(place.z);
      if (kernel_.is_volume()) {
        if (x >= 0 && y >= 0 && z >= 0 && x != y && y != z && z != x)
          kernel_.x = x, kernel_.y = y, kernel_.z = z;
      } else if (x == 0) {
        kernel_.x = 0, kernel_.y = 1;
      }
    }
  }

  /// The only loop whose variable is in a form, or -1.
  int loop_in(const MaybeForm &form) const {
    int found = -1;
    for (std::size_t k = 0; form && k < kernel_.nest.size(); ++k) {
      if (!form->terms.count(kernel_.nest[k].variable)) continue;
      if (found >= 0) return -1;
      found = static_cast<int>(k);
    }
    return found;
  }

  /// The slice and the row of a subscript [(slice * height + row) * width + column].
  std::optional<Split> split_volume(const Subscript &s) {
    if (!kernel_.is_volume() || s.indices.size() != 1) return {};
    const auto parts = flat_.split(s.indices[0], true);
    return parts ? flat_.split(parts->row) : std::nullopt;
  }
  /// The row and the column.
  std::optional<Split> split(const Subscript &s) {
    return flat_.split(s.indices[0], split_volume(s).has_value());
  }

  Place offsets(const Subscript &s) {
    if (s.indices.size() == 3)
      return {value_(s.indices[0]), value_(s.indices[1]), value_(s.indices[2])};
    if (s.indices.size() == 2) return {{}, value_(s.indices[0]), value_(s.indices[1])};
    if (s.indices.size() != 1) return {};
    const auto parts = split(s), volume = split_volume(s);
    if (!parts) return {};
    if (!volume) return {{}, flat_.sum(parts->row), flat_.sum(parts->column)};
    return {flat_.sum(volume->row), flat_.sum(volume->column), flat_.sum(parts->column)};
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
    const int most = kernel_.is_volume() ? 3 : 2;
    if (static_cast<int>(s.indices.size()) > most ||
        static_cast<int>(s.indices.size()) != image.dimensions)
      return unit_.error(at, "'" + image.name + "' has " + std::to_string(s.indices.size()) +
                                 " subscripts here; write " + form());
    if (s.indices.size() == 1 && !read_stride(s, image, at)) return;
    const Place p = offsets(s);
    const bool known = is_known(p, image.is_volume), own = is_own_pixel(s);
    if (s.access.write && !read_write(s, image, at, known ? &p : nullptr)) return;
    if (s.access.read && !(s.access.write && own)) {
      image.read = true;
      image.centred &= own;
      image.known &= known;
      if (!known) return;
      bool beyond = false, clamped = false, watched = true;
      const auto add = [&](const LinearForm &f, const Loop &loop, int &low, int &high) {
        low = std::min(low, static_cast<int>(f.low));
        high = std::max(high, static_cast<int>(f.high));
        beyond |= f.low < 0 || f.high > 0;
        clamped |= f.clamped;
        watched = watched && is_watched(f, loop);
      };
      add(*p.y, kernel_.rows(), image.y0, image.y1);
      add(*p.x, kernel_.columns(), image.x0, image.x1);
      if (image.is_volume) add(*p.z, kernel_.slices(), image.z0, image.z1);
      image.clamped |= clamped || (beyond && watched);
    }
  }

  const char *form() const {
    return kernel_.is_volume() ? "[slice][row][column] or [(slice * height + row) * width + column]"
                               : "[row][column] or [row * width + column]";
  }

  bool read_stride(const Subscript &s, Image &image, unsigned at) {
    const auto parts = split(s), volume = split_volume(s);
    if (!parts || image.is_volume != volume.has_value())
      return unit_.error(at, "can't tell row and column in '" + unit_.text(s.expression) +
                                 "'; write " + form()),
             false;
    if (!image.stride.empty() && image.stride != parts->stride)
      return unit_.error(at, "rows of '" + image.name + "' are '" + image.stride +
                                 "' wide above and '" + parts->stride + "' here; use one width"),
             false;
    if (volume && !image.slice.empty() && image.slice != volume->stride)
      return unit_.error(at, "slices of '" + image.name + "' have '" + image.slice +
                                 "' rows above and '" + volume->stride + "' here; use one height"),
             false;
    image.stride = parts->stride;
    image.stride_variable = parts->stride_variable;
    if (volume) image.slice = volume->stride;
    return true;
  }

  bool read_write(const Subscript &s, Image &image, unsigned at, const Place *p) {
    const auto is_one = [](const MaybeForm &f) { return f->low == f->high && !f->clamped; };
    const auto number = [](const MaybeForm &f) { return static_cast<int>(f->low); };
    const bool depth = image.is_volume, spread = kernel_.is_volume() && !depth;
    const bool one = p && !spread && is_one(p->y) && is_one(p->x) && (!depth || is_one(p->z));
    if (!one || (image.written && (image.write_y != p->y->low || image.write_x != p->x->low ||
                                   (depth && image.write_z != p->z->low))))
      return unit_.error(at, "a window may write one pixel of its own, but '" +
                                 unit_.text(s.expression) +
                                 "' could be written by several windows; gather instead: let each "
                                 "window compute its pixel"),
             false;
    image.written = true;
    image.write_y = number(p->y), image.write_x = number(p->x);
    if (depth) image.write_z = number(p->z);
    if (!s.access.plain && !is_at_own_pixel(image))
      return unit_.error(at,
                         "only the pixel in the middle of the window can be changed in place; "
                         "compute the value in a variable and set it with '='"),
             false;
    return true;
  }

  static bool is_at_own_pixel(const Image &i) { return !i.write_z && !i.write_y && !i.write_x; }

  /// Chooses between a store and a register, and between one buffer and two.
  void finish(Image &image) {
    if (!image.written) return;
    bool changes = false, first = true, read_first = false, parts = false;
    image.always_written = always_sets(kernel_, image);
    for (const Subscript &s : kernel_.window.subscripts) {
      if (s.array != image.variable) continue;
      if (first) read_first = s.access.read;
      parts |= s.access.part && s.access.read;
      changes |= s.access.write && !s.access.plain;
      // The window reads what it has written itself.
      changes |= !first && !read_first && s.access.read && is_own_pixel(s);
      first = false;
    }
    image.in_register = changes && image.centred && is_at_own_pixel(image);
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
      image.read = !image.always_written || read_first || parts;
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
      if (!image.in_register && !renamed && image.dimensions > 1) continue;
      if (!name || (!range && (image.in_register || image.dimensions == 1))) {
        unit_.error(unit_.place(s->expression), "'" + image.name +
                                                    "' is used in the text of a macro; "
                                                    "write its subscripts out here");
        continue;
      }
      const std::string called = renamed ? image.output() : image.name;
      if (image.in_register) {
        kernel_.edits.insert({range->begin, range->end, image.name + "_px"});
      } else if (image.dimensions > 1) {
        kernel_.edits.insert({name->begin, name->end, called});
      } else if (const auto parts = split(*s)) {
        const auto volume = split_volume(*s);
        const std::string row =
            volume ? joined(volume->row) + "][" + joined(volume->column) : joined(parts->row);
        kernel_.edits.insert(
            {range->begin, range->end, called + "[" + row + "][" + joined(parts->column) + "]"});
      }
    }
  }

  const Unit &unit_;
  Kernel &kernel_;
  Evaluator value_;
  FlatIndex flat_;
};

}  // namespace

void find_images(const Unit &unit, Kernel &kernel) {
  Reader(unit, kernel).read();
}

}  // namespace cudascan::gswo
