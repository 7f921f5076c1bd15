// SPDX-License-Identifier: LGPL-2.1-or-later
// Sorts the variables of a function into parameters of the kernel, copies of constants, and
// variables of each window.
#include <algorithm>

#include "gswo/kernel.h"

namespace cudascan::gswo {

using namespace clang;

namespace {

class Finder {
 public:
  Finder(const Unit &unit, Kernel &kernel, std::map<unsigned, std::string> &locals, bool window)
      : unit_(unit), kernel_(kernel), locals_(locals), in_window_(window) {}

  /// Registers `variable`, which is used at `at`.
  void need(const VarDecl *variable, unsigned at) {
    if (!done_.insert(variable).second || kernel_.window.own.count(variable) ||
        kernel_.image(variable) || kernel_.reduction(variable))
      return;
    for (const Loop &loop : kernel_.nest)
      if (loop.variable == variable) return;
    if (variable->hasGlobalStorage())
      global(variable, at);
    else if (isa<ParmVarDecl>(variable))
      parameter(variable, at);
    else
      local(variable, at);
  }

 private:
  std::string quoted(const VarDecl *v) const { return "'" + name_of(v) + "'"; }

  void global(const VarDecl *v, unsigned at) {
    if (!unit_.in_file(v->getLocation())) return;
    if (!unit_.is_constant(v->getType()))
      return unit_.error(
          at, "the window uses the " + std::string(v->isStaticLocal() ? "static" : "global") +
                  " variable " + quoted(v) + ", which can change; make it const or a parameter");
    if (v->isStaticLocal()) return copy(v);
    kernel_.globals.insert(v);
  }

  bool is_written(const VarDecl *v) const {
    return std::any_of(
        kernel_.window.references.begin(), kernel_.window.references.end(),
        [&](const Reference &r) { return r.variable == v && kernel_.window.access_of(r).write; });
  }

  void parameter(const VarDecl *v, unsigned at) {
    const QualType type = v->getType().getNonReferenceType();
    const std::string name = name_of(v);
    if (type->isPointerType() || type->isArrayType()) {
      for (const Reference &r : kernel_.window.references)
        if (r.variable == v && !is_subscripted(r.name))
          return unit_.error(unit_.place(r.name), "'" + name + "' is used as a pointer; write " +
                                                      name + "[row][column] or " + name +
                                                      "[row * width + column]");
      return unit_.error(at, "'" + name +
                                 "' is an array that does not move with the window; make it a "
                                 "const array with its values in this file");
    }
    if (!type->isArithmeticType() && !type->isEnumeralType())
      return unit_.error(at, "'" + name + "' is of type '" + unit_.type_name(type) +
                                 "'; images are T **, T a[][N] or T *, everything else has to be a "
                                 "number");
    if (is_written(v)) {
      if (in_window_)
        unit_.error(at, "the window changes the parameter '" + name +
                            "'; copy it into a variable of the window first");
      return;
    }
    if (const Constant *constant = unit_.constant(v)) {
      locals_[0] += "  const " + unit_.declaration(type.getUnqualifiedType(), name) + " = " +
                    (type->isEnumeralType() ? "(" + unit_.type_name(type) + ")" : "") +
                    constant->text + ";\n";
      return;
    }
    scalar(v, false);
  }

  bool is_subscripted(const DeclRefExpr *name) const {
    return std::any_of(kernel_.window.subscripts.begin(), kernel_.window.subscripts.end(),
                       [&](const Subscript &s) { return s.name == name; });
  }

  void scalar(const VarDecl *v, bool from_host) {
    for (Scalar &s : kernel_.scalars)
      if (s.variable == v) {
        s.in_window |= in_window_;
        return;
      }
    QualType type = v->getType().getNonReferenceType();
    if (const auto *enumeration = type->getAs<EnumType>();
        enumeration && enumeration->getDecl()->getName().empty())
      type = enumeration->getDecl()->getIntegerType();
    const bool number = type->isArithmeticType();
    kernel_.scalars.push_back({v, name_of(v),
                               unit_.type_name(number ? type.getCanonicalType() : type),
                               Role::value, in_window_, from_host});
  }

  void local(const VarDecl *v, unsigned at) {
    const bool written = is_written(v), array = v->getType()->isArrayType();
    if (v->getType()->isPointerType())
      return unit_.error(at, "the window uses the pointer " + quoted(v) +
                                 "; use the image itself, with subscripts");
    if (written && !in_window_)
      return unit_.error(at, "the bounds of the loops depend on " + quoted(v) +
                                 ", which the windows change; use another variable");
    if (!written && (!v->hasInit() || kernel_.window.set_outside.count(v))) {
      if (array && is_table(v)) return;
      if (array || !v->getType().getNonReferenceType()->isArithmeticType())
        return unit_.error(at, quoted(v) +
                                   " is filled outside the loops; fill it in the window, or "
                                   "make it const with its values where it is declared");
      return scalar(v, true);
    }
    if (!written) return copy(v);
    own(v, at, array);
  }

  /// Whether a program can copy an array to the device. Code in the block of `parallel` does not
  /// run.
  bool is_table(const VarDecl *v) {
    const auto *array = unit_.ast.getAsConstantArrayType(v->getType());
    const unsigned place = unit_.place(v->getLocation());
    if (unit_.options.emit != Emit::standalone || !in_window_ || !array ||
        !array->getElementType()->isArithmeticType() || place > kernel_.parallel->open)
      return false;
    kernel_.tables.push_back({name_of(v),
                              unit_.type_name(array->getElementType().getCanonicalType()),
                              static_cast<long>(array->getSize().getZExtValue())});
    return true;
  }

  /// A value or a table that is fixed before the loops.
  void copy(const VarDecl *v) {
    const unsigned place = unit_.place(v->getLocation());
    if (v->hasInit()) {
      for (const VarDecl *other : variables_in(v->getInit())) {
        const QualType type = other->getType().getNonReferenceType();
        if (kernel_.image(other) || type->isPointerType())
          return unit_.error(place, quoted(v) + " is computed from '" + name_of(other) +
                                        "' outside the loops; compute it in the window");
        need(other, place);
      }
      kernel_.initialisers.push_back(v->getInit());
    }
    sizes(v);
    declare(v, true, "");
  }

  /// A variable of each window.
  void own(const VarDecl *v, unsigned at, bool array) {
    const bool initialised = kernel_.window.initialised.count(v);
    if (!initialised) {
      if (reads_first(v))
        return unit_.error(at, quoted(v) +
                                   " carries a value from one window to the next; give it a "
                                   "value at the beginning of the window, or declare it "
                                   "under 'single initialisation'");
      if (v->getType()->isRecordType())
        return unit_.error(at, quoted(v) +
                                   " is a structure declared outside the window; declare it "
                                   "inside");
      if (!array) kernel_.carried.insert(name_of(v));
    }
    if (initialised && v->hasInit()) {
      for (const VarDecl *other : variables_in(v->getInit())) need(other, at);
      kernel_.initialisers.push_back(v->getInit());
    }
    sizes(v);
    declare(v, initialised, initialised ? "  // single initialisation" : "");
  }

  /// Whether a window reads the variable before it sets it, in the order of the text.
  bool reads_first(const VarDecl *v) const {
    for (const Reference &r : kernel_.window.references)
      if (r.variable == v) {
        const Access access = kernel_.window.access_of(r);
        return access.read && !access.escapes;
      }
    return false;
  }

  /// The sizes of an array must be known when the kernel is compiled.
  void sizes(const VarDecl *v) {
    QualType type = v->getType();
    while (const auto *array = unit_.ast.getAsArrayType(type)) {
      if (const auto *variable = dyn_cast<VariableArrayType>(array);
          variable && variable->getSizeExpr())
        size(v, variable->getSizeExpr());
      type = array->getElementType();
    }
  }

  void size(const VarDecl *v, const Expr *e) {
    const unsigned place = unit_.place(v->getLocation());
    for (const VarDecl *other : variables_in(e)) {
      need(other, place);
      std::set<const VarDecl *> sources{other};
      if (other->hasInit())
        for (const VarDecl *more : variables_in(other->getInit())) sources.insert(more);
      for (const VarDecl *source : sources) {
        const std::string name = name_of(source);
        if (unit_.sizes.count(source))
          return unit_.error(place, "the size of " + quoted(v) + " depends on '" + name +
                                        "', which is the size of the frame; arrays need sizes "
                                        "known in advance");
        if (isa<ParmVarDecl>(source) && !unit_.constant(source))
          return unit_.error(place, "the size of " + quoted(v) + " depends on '" + name +
                                        "', whose value is unknown; set it with --set " + name +
                                        "=5, or in a pipeline with params=\"params," + name +
                                        "=5\"");
      }
    }
  }

  void declare(const VarDecl *v, bool with_value, const char *comment) {
    std::string value;
    if (with_value && v->hasInit() && v->getInitStyle() == VarDecl::CInit)
      value = " = " + unit_.text(v->getInit());
    else if (with_value && v->hasInit())
      value = v->getInitStyle() == VarDecl::ListInit ? unit_.text(v->getInit())
                                                     : "(" + unit_.text(v->getInit()) + ")";
    locals_[unit_.place(v->getLocation())] =
        "  " + unit_.declaration(v->getType(), name_of(v)) + value + ";" + comment + "\n";
  }

 public:
  /// Arrays that the window declares itself.
  void own_sizes() {
    for (const VarDecl *v : kernel_.window.own) {
      if (v->isStaticLocal() && !unit_.is_constant(v->getType()))
        unit_.error(unit_.place(v->getLocation()), quoted(v) +
                                                       " is static, so it carries a value "
                                                       "from one window to the next; remove "
                                                       "'static'");
      sizes(v);
    }
  }

 private:
  const Unit &unit_;
  Kernel &kernel_;
  std::map<unsigned, std::string> &locals_;
  bool in_window_;
  std::set<const VarDecl *> done_;
};

}  // namespace

void find_variables(const Unit &unit, Kernel &kernel) {
  Finder window(unit, kernel, kernel.window_locals, true);
  for (const Reference &r : kernel.window.references) window.need(r.variable, unit.place(r.name));
  window.own_sizes();
  Finder bounds(unit, kernel, kernel.bound_locals, false);
  for (const Loop &loop : kernel.nest)
    for (const Expr *e : {loop.first, loop.bound})
      for (const VarDecl *v : variables_in(e)) {
        if (kernel.image(v))
          unit.error(unit.place(e), "the bounds of the loops depend on the image '" + name_of(v) +
                                        "'; pass the size as a parameter");
        bounds.need(v, unit.place(e));
      }
  for (const Image &image : kernel.images)
    if (image.in_register && !image.read) kernel.carried.insert(image.name + "_px");
}

}  // namespace cudascan::gswo
