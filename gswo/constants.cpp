// SPDX-License-Identifier: LGPL-2.1-or-later
// --set turns parameters of a function into constants.
#include <llvm/ADT/APSInt.h>
#include <llvm/ADT/StringExtras.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "gswo/kernel.h"

namespace cudascan::gswo {

using namespace clang;

namespace {

/// Whether a form has some variable exactly once. In the bound of a loop over an image, this is a
/// size.
bool has_size(const MaybeForm &form) {
  return form && std::any_of(form->terms.begin(), form->terms.end(),
                             [](const auto &term) { return term.second == 1; });
}

/// That parameter; the first one if there are several.
const ParmVarDecl *size_in(const MaybeForm &form, const FunctionDecl *function) {
  if (!form) return nullptr;
  for (const ParmVarDecl *p : function->parameters())
    if (const auto term = form->terms.find(p); term != form->terms.end() && term->second == 1)
      return p;
  return nullptr;
}

void check(const Unit &unit, const ParmVarDecl *parameter, const Constant &constant) {
  const QualType type = parameter->getType().getNonReferenceType();
  // As in C++, every number except 0 is true.
  if (!type->isIntegerType() || type->isBooleanType() || type->isEnumeralType()) return;
  const unsigned bits = unit.ast.getIntWidth(type);
  const bool is_unsigned = type->isUnsignedIntegerType();
  const auto least = llvm::APSInt::getMinValue(bits, is_unsigned),
             most = llvm::APSInt::getMaxValue(bits, is_unsigned);
  const long double value = std::trunc(std::strtold(constant.text.c_str(), nullptr)),
                    end = std::ldexp(1.0L, static_cast<int>(bits) - !is_unsigned);
  if (value >= (is_unsigned ? 0 : -end) && value < end) return;
  unit.error(unit.place(parameter->getLocation()),
             "the parameter '" + name_of(parameter) + "' is set to " + constant.text +
                 ", but its type '" + unit.type_name(type) + "' holds " +
                 llvm::toString(least, 10) + " to " + llvm::toString(most, 10) +
                 "; set it to a number in this range or use a wider type");
}

}  // namespace

void find_sizes(Unit &unit, const Kernel &kernel) {
  if (unit.options.emit != Emit::kernel) return;
  Evaluator value(unit, kernel.nest, kernel.window), unset(unit, kernel.nest, kernel.window, false);
  for (const Loop &loop : kernel.nest) {
    const Expr *end = loop.upwards() ? loop.bound : loop.first;
    // If r is a constant, only the height of `height - r` is left.
    if (has_size(value(end))) continue;
    const ParmVarDecl *size = size_in(unset(end), kernel.function);
    const Constant *constant = size ? unit.constant(size) : nullptr;
    if (!constant) continue;
    unit.source.note(unit.place(size->getLocation()),
                     "'" + name_of(size) +
                         "' bounds the loops over the images, so it is the size of the frame and "
                         "not " +
                         constant->text + ", which it is set to");
    unit.sizes.insert(size);
  }
}

void check_constants(const Unit &unit, const Kernel &kernel) {
  for (const ParmVarDecl *parameter : kernel.function->parameters())
    if (const Constant *constant = unit.constant(parameter)) check(unit, parameter, *constant);
}

}  // namespace cudascan::gswo
