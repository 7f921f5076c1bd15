// SPDX-License-Identifier: LGPL-2.1-or-later
// `--strict`: windows whose loops are bounded and that use nothing but their file and arithmetic.
#include <clang/AST/RecursiveASTVisitor.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "gswo/kernel.h"

namespace cudascan::gswo {

using namespace clang;

namespace {

constexpr std::array<std::string_view, 62> kMath{
    "abs",    "fabs",  "fabsf",  "labs",    "min",    "max",   "clamp",  "swap",   "fmin",
    "fminf",  "fmax",  "fmaxf",  "sqrt",    "sqrtf",  "cbrt",  "cbrtf",  "hypot",  "hypotf",
    "exp",    "expf",  "exp2",   "exp2f",   "log",    "logf",  "log2",   "log2f",  "log10",
    "log10f", "pow",   "powf",   "sin",     "sinf",   "cos",   "cosf",   "tan",    "tanf",
    "asin",   "asinf", "acos",   "acosf",   "atan",   "atanf", "atan2",  "atan2f", "floor",
    "floorf", "ceil",  "ceilf",  "round",   "roundf", "trunc", "truncf", "fmod",   "fmodf",
    "fma",    "fmaf",  "lround", "lroundf", "rint",   "rintf", "sinh",   "tanh"};

constexpr std::array<std::string_view, 11> kHeaders{"math.h",   "cmath",   "stdlib.h", "cstdlib",
                                                    "stdint.h", "cstdint", "stddef.h", "cstddef",
                                                    "limits.h", "climits", "algorithm"};

class Checker : public RecursiveASTVisitor<Checker> {
 public:
  explicit Checker(const Unit &unit) : unit_(unit) {}

  bool shouldVisitTemplateInstantiations() const { return true; }

  bool VisitAsmStmt(AsmStmt *s) { return refuse(s, "assembler is not allowed"); }
  bool VisitCXXNewExpr(CXXNewExpr *e) { return refuse(e, "'new' is not allowed"); }
  bool VisitCXXDeleteExpr(CXXDeleteExpr *e) { return refuse(e, "'delete' is not allowed"); }
  bool VisitCXXThrowExpr(CXXThrowExpr *e) { return refuse(e, "exceptions are not allowed"); }
  bool VisitCXXTryStmt(CXXTryStmt *s) { return refuse(s, "exceptions are not allowed"); }
  bool VisitWhileStmt(WhileStmt *s) { return refuse(s, kLoop); }
  bool VisitDoStmt(DoStmt *s) { return refuse(s, kLoop); }
  bool VisitGotoStmt(GotoStmt *s) { return refuse(s, kLoop); }
  bool VisitIndirectGotoStmt(IndirectGotoStmt *s) { return refuse(s, kLoop); }
  bool VisitCXXForRangeStmt(CXXForRangeStmt *s) { return refuse(s, kLoop); }
  bool VisitForStmt(ForStmt *s) {
    std::string why;
    if (s->getCond() && s->getCond()->isValueDependent()) return true;
    const auto loop = read_loop(s, unit_.ast, why);
    if (!loop) return refuse(s, "this loop may not end: " + why);
    const WindowBody body = read_code(unit_, s->getBody());
    std::set<const VarDecl *> fixed{loop->variable};
    for (const VarDecl *v : variables_in(loop->bound)) fixed.insert(v);
    for (const Reference &r : body.references)
      if (fixed.count(r.variable) && body.access_of(r).write)
        refuse(s, "this loop may not end: its body changes '" + name_of(r.variable) + "'");
    return true;
  }
  bool VisitUnaryOperator(UnaryOperator *e) {
    if (e->getOpcode() == UO_Deref || e->getOpcode() == UO_AddrOf) return refuse(e, kPointer);
    return true;
  }
  bool VisitBinaryOperator(BinaryOperator *e) {
    return e->getType()->isPointerType() && e->isAdditiveOp() ? refuse(e, kPointer) : true;
  }
  bool VisitExplicitCastExpr(ExplicitCastExpr *e) {
    const QualType type = e->getType();
    return type->isPointerType() || isa<CXXReinterpretCastExpr>(e) ? refuse(e, kPointer) : true;
  }
  bool VisitVarDecl(VarDecl *v) {
    const bool pointer = v->getType().getNonReferenceType()->isPointerType();
    if (pointer && !isa<ParmVarDecl>(v)) said_at(unit_.place(v->getLocation()), kPointer);
    if (v->getType()->isRecordType() && v->getType()->getAsCXXRecordDecl() &&
        !v->getType()->getAsCXXRecordDecl()->isLambda() &&
        !unit_.in_file(v->getType()->getAsCXXRecordDecl()->getLocation()))
      said_at(unit_.place(v->getLocation()), "types of other files are not allowed");
    return true;
  }
  bool VisitFileScopeAsmDecl(FileScopeAsmDecl *d) {
    return said_at(unit_.place(d->getAsmLoc()), "assembler is not allowed");
  }
  bool VisitCallExpr(CallExpr *call) {
    if (const auto *names = dyn_cast<OverloadExpr>(call->getCallee()->IgnoreParenImpCasts()))
      return std::any_of(names->decls_begin(), names->decls_end(),
                         [&](const NamedDecl *d) { return unit_.in_file(d->getLocation()); })
                 ? true
                 : known(call, names->getName().getAsString());
    if (call->isTypeDependent()) return true;
    const FunctionDecl *f = call->getDirectCallee();
    if (!f) return refuse(call, "calls through pointers are not allowed");
    const FunctionDecl *defined = nullptr;
    if (f->hasBody(defined) && unit_.in_file(defined->getLocation())) return true;
    return known(call, unit_.in_file(f->getLocation()) ? "" : f->getNameAsString());
  }

 private:
  static constexpr const char *kLoop =
      "loops have to be 'for' loops with a bound, so that they end";
  static constexpr const char *kPointer = "pointers are not allowed; use arrays and subscripts";

  bool known(const CallExpr *call, const std::string &called) {
    if (std::find(kMath.begin(), kMath.end(), called) != kMath.end()) return true;
    return refuse(call, "'" + unit_.text(call->getCallee()) +
                            "' is not a function of this file or of its list of mathematical "
                            "functions");
  }
  bool refuse(const Stmt *s, const std::string &what) { return said_at(unit_.place(s), what); }
  bool said_at(unsigned at, const std::string &what) {
    unit_.error(at, what + " (strict)");
    return true;
  }

  const Unit &unit_;
};

/// Types, variables and assembler, which come with the filter whether windows use them or not.
void check_others(const Unit &unit, Checker &checker, const DeclContext *context) {
  for (Decl *d : context->decls()) {
    if (isa<NamespaceDecl>(d) || isa<LinkageSpecDecl>(d))
      check_others(unit, checker, cast<DeclContext>(d));
    else if (unit.in_file(d->getLocation()) && !isa<FunctionDecl>(d) &&
             !isa<FunctionTemplateDecl>(d))
      checker.TraverseDecl(d);
  }
}

}  // namespace

void check_includes(Source &source, const Annotations &notes) {
  const std::vector<Token> &tokens = notes.tokens;
  const auto text = [&](const Token &t) { return source.text().substr(t.begin, t.end - t.begin); };
  for (std::size_t k = 0; k + 2 < tokens.size(); ++k) {
    if (tokens[k].kind != clang::tok::hash || !tokens[k].line_start) continue;
    const std::string word = text(tokens[k + 1]);
    if (word.rfind("include", 0) != 0 && word != "import" && word != "embed") continue;
    std::string file;
    for (std::size_t n = k + 2; n < tokens.size() && !tokens[n].line_start; ++n)
      file += text(tokens[n]);
    const std::string name = file.size() > 2 ? file.substr(1, file.size() - 2) : "";
    if (word != "include" || file[0] != '<' ||
        std::find(kHeaders.begin(), kHeaders.end(), name) == kHeaders.end())
      source.error(tokens[k].begin, "'#" + word + " " + file +
                                        "' is not allowed; only headers of C and "
                                        "C++ with mathematics are (strict)");
  }
}

void check_strict(const Unit &unit, const std::vector<std::unique_ptr<Kernel>> &kernels) {
  std::set<const FunctionDecl *> functions;
  Checker checker(unit);
  for (const auto &kernel : kernels) {
    checker.TraverseStmt(const_cast<Stmt *>(kernel->body));
    functions.insert(kernel->functions.begin(), kernel->functions.end());
    for (const Expr *e : kernel->initialisers) checker.TraverseStmt(const_cast<Expr *>(e));
  }
  check_others(unit, checker, unit.ast.getTranslationUnitDecl());
  for (const FunctionDecl *f : functions) checker.TraverseDecl(const_cast<FunctionDecl *>(f));
}

}  // namespace cudascan::gswo
