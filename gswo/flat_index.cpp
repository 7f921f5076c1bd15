// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gswo/flat_index.h"

namespace cudascan::gswo {

using namespace clang;

namespace {

void add_terms(const Expr *e, int sign, std::vector<Term> &terms) {
  const auto *sum = dyn_cast<BinaryOperator>(bare(e));
  if (!sum || !sum->isAdditiveOp()) return terms.push_back({e, sign});
  add_terms(sum->getLHS(), sign, terms);
  add_terms(sum->getRHS(), sum->getOpcode() == BO_Sub ? -sign : sign, terms);
}

}  // namespace

bool FlatIndex::is_affine(const Stmt *s) {
  if (const auto *product = dyn_cast<BinaryOperator>(s); product && product->getOpcode() == BO_Mul)
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

std::optional<Split> FlatIndex::split(const Expr *index, bool of_volume) {
  return split({{index, 1}}, of_volume);
}

std::optional<Split> FlatIndex::split(const std::vector<Term> &sum, bool of_volume) {
  std::vector<Term> terms;
  for (const Term &term : sum) add_terms(term.value, term.sign, terms);
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
      if (!(of_volume && part == &result.row) && !is_affine(term.value)) return {};
  return result;
}

MaybeForm FlatIndex::sum(const std::vector<Term> &terms) {
  MaybeForm result = LinearForm::number(0);
  for (const Term &term : terms) result = plus(result, value_(term.value), term.sign);
  return result;
}

}  // namespace cudascan::gswo
