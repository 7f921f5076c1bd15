// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gswo/unit.h"

#include <clang/Lex/Lexer.h>
#include <llvm/Support/raw_ostream.h>

namespace cudascan::gswo {

using namespace clang;

namespace {

PrintingPolicy cpp_names() {
  LangOptions language;
  language.CPlusPlus = language.Bool = true;
  PrintingPolicy policy(language);
  policy.adjustForCPlusPlus();
  return policy;
}

}  // namespace

const Constant *Unit::constant(const VarDecl *variable) const {
  const auto set = options.constants.find(name_of(variable));
  return set == options.constants.end() || !isa<ParmVarDecl>(variable) || sizes.count(variable)
             ? nullptr
             : &set->second;
}

std::optional<unsigned> Unit::typed(SourceLocation at) const {
  if (at.isInvalid()) return {};
  if (at.isMacroID()) {
    if (!files.isMacroArgExpansion(at)) return {};
    at = files.getSpellingLoc(at);
  }
  if (files.getFileID(at) != files.getMainFileID()) return {};
  return files.getFileOffset(at);
}

std::optional<Range> Unit::typed(SourceRange range) const {
  const auto begin = typed(range.getBegin()), last = typed(range.getEnd());
  if (!begin || !last) return {};
  const SourceLocation at =
      files.getLocForStartOfFile(files.getMainFileID()).getLocWithOffset(static_cast<int>(*last));
  const unsigned end = *last + Lexer::MeasureTokenLength(at, files, ast.getLangOpts());
  if (end <= *begin) return {};
  return Range{*begin, end};
}

std::optional<Range> Unit::extent(const Stmt *statement) const {
  const CharSourceRange range = Lexer::getAsCharRange(
      files.getExpansionRange(statement->getSourceRange()), files, ast.getLangOpts());
  if (!in_file(range.getBegin()) || !in_file(range.getEnd())) return {};
  Range r{files.getFileOffset(range.getBegin()), files.getFileOffset(range.getEnd())};
  for (const Token &token : notes.tokens) {
    if (token.begin < r.end || token.directive) continue;
    if (token.kind == tok::semi) r.end = token.end;
    break;
  }
  if (r.end <= r.begin) return {};
  return r;
}

unsigned Unit::place(SourceLocation at) const {
  return in_file(at) ? files.getFileOffset(files.getExpansionLoc(at)) : 0;
}

bool Unit::in_file(SourceLocation at) const {
  return at.isValid() && files.getFileID(files.getExpansionLoc(at)) == files.getMainFileID();
}

std::string Unit::text(const Stmt *statement) const {
  const CharSourceRange range = Lexer::getAsCharRange(
      files.getExpansionRange(statement->getSourceRange()), files, ast.getLangOpts());
  return Lexer::getSourceText(range, files, ast.getLangOpts()).str();
}

std::string Unit::text(Range range) const {
  return source.text().substr(range.begin, range.end - range.begin);
}

std::string Unit::type_name(QualType type) const {
  return type.getUnqualifiedType().getAsString(cpp_names());
}

std::string Unit::declaration(QualType type, const std::string &name) const {
  std::string result;
  llvm::raw_string_ostream stream(result);
  type.print(stream, cpp_names(), name);
  return stream.str();
}

bool Unit::is_constant(QualType type) const {
  return type.isConstQualified() || ast.getBaseElementType(type).isConstQualified();
}

const Expr *bare(const Expr *e) {
  return e->IgnoreParenImpCasts();
}

const VarDecl *variable_of(const Expr *e) {
  const auto *name = dyn_cast<DeclRefExpr>(bare(e));
  return name ? dyn_cast<VarDecl>(name->getDecl()) : nullptr;
}

const DeclRefExpr *base_of(const Expr *e) {
  while (const auto *subscript = dyn_cast<ArraySubscriptExpr>(bare(e))) e = subscript->getBase();
  return variable_of(e) ? cast<DeclRefExpr>(bare(e)) : nullptr;
}

std::optional<long> constant_of(const Expr *e, const ASTContext &ast) {
  Expr::EvalResult result;
  if (e->isValueDependent() || !e->getType()->isIntegerType() || !e->EvaluateAsInt(result, ast))
    return {};
  const llvm::APSInt &value = result.Val.getInt();
  if (!(value.isSigned() ? value.isSignedIntN(31) : value.isIntN(30))) return {};
  return value.getExtValue();
}

std::string name_of(const VarDecl *variable) {
  return variable->getNameAsString();
}

}  // namespace cudascan::gswo
