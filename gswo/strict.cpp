// SPDX-License-Identifier: LGPL-2.1-or-later
// `--strict`: checks the code of windows and of everything they call.
#include "gswo/strict.h"

#include <clang/AST/Attr.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "gswo/ast_walker.h"

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

/// Limits for all variables of a filter together and for the iterations of nested loops; see
/// docs/gswo.md.
constexpr double kMostBytes = 512 << 10, kMostTurns = 1 << 24;

constexpr const char *kLoop = "loops must be 'for' loops with a bound, so that they end";
constexpr const char *kPointer = "pointers are not allowed; use arrays and subscripts";

/// Whether a value of a type contains a pointer.
class PointerFinder {
 public:
  bool in(QualType type) {
    if (type.isNull() || type->isDependentType()) return false;
    type = type.getCanonicalType().getNonReferenceType();
    while (const auto *array = dyn_cast<ArrayType>(type.getTypePtr()))
      type = array->getElementType().getCanonicalType().getNonReferenceType();
    if (const auto *atomic = type->getAs<AtomicType>()) return in(atomic->getValueType());
    if (type->isAnyPointerType() || type->isMemberPointerType() || type->isBlockPointerType() ||
        type->isNullPtrType() || type->isFunctionType())
      return true;
    const RecordDecl *record = type->getAsRecordDecl();
    if (record) record = record->getDefinition();
    if (!record || !seen_.insert(record).second) return false;
    const auto *with_bases = dyn_cast<CXXRecordDecl>(record);
    if (with_bases && with_bases->isLambda()) return false;  // its captures are checked
    if (with_bases)
      for (const CXXBaseSpecifier &base : with_bases->bases())
        if (in(base.getType())) return true;
    return std::any_of(record->field_begin(), record->field_end(),
                       [&](const FieldDecl *field) { return in(field->getType()); });
  }

 private:
  std::set<const RecordDecl *> seen_;
};

bool has_pointer(QualType type) {
  return PointerFinder().in(type);
}

class Checker : public AstWalker {
 public:
  explicit Checker(const Unit &unit) : unit_(unit) {}

  bool shouldVisitTemplateInstantiations() const override { return true; }

  /// Checks a window and everything it calls.
  void window(const Kernel &kernel) {
    body_ = &kernel.window, nest_ = &kernel.nest;
    aliased_.add(unit_, kernel.function->getBody());
    TraverseStmt(const_cast<Stmt *>(kernel.body));
    for (const Expr *e : kernel.initialisers) TraverseStmt(const_cast<Expr *>(e));
    // Variables that move to the beginning of the window.
    for (const VarDecl *v : read_code(unit_, kernel.function->getBody()).own)
      if (const unsigned at = unit_.place(v->getLocation());
          kernel.window_locals.count(at) || kernel.bound_locals.count(at))
        TraverseDecl(const_cast<VarDecl *>(v));
    body_ = nullptr, nest_ = nullptr;
  }
  /// Checks the parts of a filter that exist whether windows use them or not.
  void others(const DeclContext *context) {
    for (Decl *d : context->decls()) {
      if (isa<NamespaceDecl>(d) || isa<LinkageSpecDecl>(d))
        others(cast<DeclContext>(d));
      else if (unit_.in_file(d->getLocation()) && !isa<FunctionDecl>(d) &&
               !isa<FunctionTemplateDecl>(d))
        TraverseDecl(d);
    }
  }
  /// Checks a function for the current number of iterations around its call; skips it if it was
  /// already checked for as many.
  void called(const FunctionDecl *f, const Expr *call) {
    if (std::find(calling_.begin(), calling_.end(), f) != calling_.end()) {
      refuse(call, "'" + f->getNameAsString() + "' calls itself; write a loop");
      return;
    }
    const auto known = checked_.find(f);
    if (known != checked_.end() && known->second >= turns_) return;
    checked_[f] = turns_;
    const WindowBody code = read_code(unit_, f->getBody());
    static const std::vector<Loop> kNoNest;
    const auto *outer_body = std::exchange(body_, &code);
    const auto *outer_nest = std::exchange(nest_, &kNoNest);
    aliased_.add(unit_, f->getBody());
    calling_.push_back(f);
    TraverseDecl(const_cast<FunctionDecl *>(f));
    calling_.pop_back();
    body_ = outer_body, nest_ = outer_nest;
  }

  bool VisitAsmStmt(AsmStmt *s) override { return refuse(s, "assembler is not allowed"); }
  bool VisitCXXNewExpr(CXXNewExpr *e) override { return refuse(e, "'new' is not allowed"); }
  bool VisitCXXDeleteExpr(CXXDeleteExpr *e) override {
    return refuse(e, "'delete' is not allowed");
  }
  bool VisitCXXThrowExpr(CXXThrowExpr *e) override {
    return refuse(e, "exceptions are not allowed");
  }
  bool VisitCXXTryStmt(CXXTryStmt *s) override { return refuse(s, "exceptions are not allowed"); }
  bool VisitCXXTypeidExpr(CXXTypeidExpr *e) override {
    return refuse(e, "'typeid' is not allowed");
  }
  bool VisitWhileStmt(WhileStmt *s) override { return refuse(s, kLoop); }
  bool VisitDoStmt(DoStmt *s) override { return refuse(s, kLoop); }
  bool VisitGotoStmt(GotoStmt *s) override { return refuse(s, kLoop); }
  bool VisitIndirectGotoStmt(IndirectGotoStmt *s) override { return refuse(s, kLoop); }
  bool VisitAddrLabelExpr(AddrLabelExpr *e) override { return refuse(e, kPointer); }
  bool VisitCXXForRangeStmt(CXXForRangeStmt *s) override { return refuse(s, kLoop); }
  bool VisitCoreturnStmt(CoreturnStmt *s) override {
    return refuse(s, "coroutines are not allowed");
  }
  bool VisitCoroutineSuspendExpr(CoroutineSuspendExpr *e) override {
    return refuse(e, "coroutines are not allowed");
  }
  bool VisitCXXDestructorDecl(CXXDestructorDecl *d) override {
    if (!d->isUserProvided()) return true;
    return said_at(unit_.place(d->getLocation()), "destructors are not allowed");
  }
  bool VisitCXXMethodDecl(CXXMethodDecl *d) override {
    if (!d->isVirtual() || d->isImplicit()) return true;
    return said_at(unit_.place(d->getLocation()), "virtual functions are not allowed");
  }

  bool TraverseForStmt(ForStmt *s, Queue *) override {
    const double outer = turns_;
    check_loop(s);
    const bool on = AstWalker::TraverseForStmt(s);
    turns_ = outer;
    return on;
  }

  bool VisitUnaryOperator(UnaryOperator *e) override {
    if (e->getOpcode() == UO_Deref || e->getOpcode() == UO_AddrOf) return refuse(e, kPointer);
    return true;
  }
  bool VisitBinaryOperator(BinaryOperator *e) override {
    return e->isPtrMemOp() ? refuse(e, kPointer) : true;
  }
  bool VisitExplicitCastExpr(ExplicitCastExpr *e) override {
    return has_pointer(e->getTypeAsWritten()) || isa<CXXReinterpretCastExpr>(e)
               ? refuse(e, kPointer)
               : true;
  }
  bool VisitUnaryExprOrTypeTraitExpr(UnaryExprOrTypeTraitExpr *e) override {
    return e->isArgumentType() && has_pointer(e->getArgumentType()) ? refuse(e, kPointer) : true;
  }
  bool VisitMemberExpr(MemberExpr *e) override {
    if (e->isArrow()) members_of_.insert(bare(e->getBase()));
    return true;
  }
  bool VisitExpr(Expr *e) override {
    const QualType type = e->getType();
    if (type.isNull() || type->isDependentType()) return true;
    if (e->isPRValue() && (type->isRecordType() || type->isArrayType()) &&
        bytes_of(type) > kMostBytes)
      return refuse(e, too_large());
    const bool pointer = type->isAnyPointerType() || type->isMemberPointerType() ||
                         type->isBlockPointerType() || type->isNullPtrType();
    return pointer && !isa<CXXNewExpr>(e) && !is_array_in_disguise(e) ? refuse(e, kPointer) : true;
  }

  bool VisitVarDecl(VarDecl *v) override {
    if (!variables_.insert(v).second) return true;
    const unsigned at = unit_.place(v->getLocation());
    QualType type = v->getType();
    if (isa<ParmVarDecl>(v) && type->isPointerType()) type = type->getPointeeType();
    if (has_pointer(type)) said_at(at, kPointer);
    if (const CXXRecordDecl *record = type->getAsCXXRecordDecl();
        record && !record->isLambda() && !unit_.in_file(record->getLocation()))
      said_at(at, "types of other files are not allowed");
    if (v->hasExternalStorage()) said_at(at, "variables of other files are not allowed");
    label(v);
    if (v->getType()->isReferenceType() || v->getType()->isPointerType()) return true;
    bytes_ += bytes_of(v->getType());
    if (bytes_ > kMostBytes && !said_size_) {
      said_size_ = true;
      said_at(at, too_large());
    }
    return true;
  }
  bool VisitFieldDecl(FieldDecl *f) override {
    return has_pointer(f->getType()) ? said_at(unit_.place(f->getLocation()), kPointer) : true;
  }
  bool VisitFunctionDecl(FunctionDecl *f) override {
    if (!unit_.in_file(f->getLocation()) || isa<CXXConversionDecl>(f)) return true;
    label(f);
    return has_pointer(f->getReturnType()) ? said_at(unit_.place(f->getLocation()), kPointer)
                                           : true;
  }
  bool VisitDeclRefExpr(DeclRefExpr *e) override {
    const auto *v = dyn_cast<VarDecl>(e->getDecl());
    if (v && v->hasGlobalStorage() && !unit_.in_file(v->getLocation()))
      return refuse(e, "variables of other files are not allowed");
    return true;
  }
  bool VisitFileScopeAsmDecl(FileScopeAsmDecl *d) override {
    return said_at(unit_.place(d->getAsmLoc()), "assembler is not allowed");
  }
  bool VisitCXXConstructExpr(CXXConstructExpr *e) override {
    const CXXConstructorDecl *constructor = e->getConstructor();
    if (!unit_.in_file(constructor->getParent()->getLocation()))
      return refuse(e, "types of other files are not allowed");
    const FunctionDecl *defined = nullptr;
    if (constructor->isUserProvided() && constructor->hasBody(defined)) called(defined, e);
    return true;
  }
  bool VisitCallExpr(CallExpr *call) override {
    if (const auto *names = dyn_cast<OverloadExpr>(call->getCallee()->IgnoreParenImpCasts()))
      return std::any_of(names->decls_begin(), names->decls_end(),
                         [&](const NamedDecl *d) { return unit_.in_file(d->getLocation()); })
                 ? true
                 : known(call, names->getName().getAsString());
    if (call->isTypeDependent()) return true;
    const FunctionDecl *f = call->getDirectCallee();
    if (!f) return refuse(call, "calls through pointers are not allowed");
    const FunctionDecl *defined = nullptr;
    if (f->hasBody(defined) && unit_.in_file(defined->getLocation()))
      return called(defined, call), true;
    // Like those that compilers generate to copy a structure.
    if (f->isDefaulted() && unit_.in_file(f->getLocation())) return true;
    return known(call, unit_.in_file(f->getLocation()) ? "" : f->getNameAsString());
  }

 private:
  void check_loop(ForStmt *s) {
    if ((s->getCond() && s->getCond()->isValueDependent()) ||
        (s->getInc() && s->getInc()->isValueDependent()))
      return;
    std::string why;
    const auto loop = read_loop(s, unit_.ast, why);
    if (loop && (loop->first->isValueDependent() || loop->variable->getType()->isDependentType()))
      return;
    if (loop) why = why_endless(unit_, *loop, aliased_);
    if (!loop || !why.empty()) {
      refuse(s, "this loop may not end: " + why);
      return;
    }
    if (const double n = most_turns(*loop); n > 0) turns_ *= n;
    if (turns_ > kMostTurns)
      refuse(s, "this loop has more than " + std::to_string(static_cast<long>(kMostTurns)) +
                    " iterations, with the loops around it; make it shorter");
  }
  /// 0 = unknown.
  double most_turns(const Loop &loop) {
    Expr::EvalResult first, bound;
    if (loop.first->EvaluateAsInt(first, unit_.ast) && loop.bound->EvaluateAsInt(bound, unit_.ast))
      return std::ceil((bound.Val.getInt().roundToDouble() - first.Val.getInt().roundToDouble()) /
                       static_cast<double>(loop.step)) +
             loop.inclusive();
    if (!body_) return 0;
    return static_cast<double>(Evaluator(unit_, *nest_, *body_).most_turns(loop).value_or(0));
  }

  /// Infinite if the size is unknown when the filter is compiled.
  double bytes_of(QualType type) {
    if (type->isDependentType() || type->isIncompleteType() || type->isFunctionType()) return 0;
    type = type.getCanonicalType();
    if (const auto *array = dyn_cast<VariableArrayType>(type.getTypePtr())) {
      const MaybeForm n = array->getSizeExpr() && body_
                              ? Evaluator(unit_, *nest_, *body_)(array->getSizeExpr())
                              : std::nullopt;
      return n && n->is_constant()
                 ? static_cast<double>(n->high) * bytes_of(array->getElementType())
                 : INFINITY;
    }
    if (const auto *array = dyn_cast<ConstantArrayType>(type.getTypePtr()))
      return array->getSize().roundToDouble() * bytes_of(array->getElementType());
    return static_cast<double>(unit_.ast.getTypeSizeInChars(type).getQuantity());
  }
  static std::string too_large() {
    return "the variables of a filter may have " +
           std::to_string(static_cast<long>(kMostBytes) >> 10) +
           " KiB together, and their sizes must be known; make this smaller";
  }

  /// A pointer that is only C++'s way to pass an array or the object of a method.
  bool is_array_in_disguise(const Expr *e) const {
    e = e->IgnoreParens();
    if (const auto *cast = dyn_cast<ImplicitCastExpr>(e)) switch (cast->getCastKind()) {
        case CK_ArrayToPointerDecay:
        case CK_FunctionToPointerDecay:
        case CK_BuiltinFnToFnPtr:
          return true;
        case CK_LValueToRValue:
        case CK_NoOp:
        case CK_UncheckedDerivedToBase:
        case CK_DerivedToBase:
          return is_array_in_disguise(cast->getSubExpr());
        default:
          return false;
      }
    if (const auto *self = dyn_cast<CXXThisExpr>(e))
      return self->isImplicit() || members_of_.count(e);
    if (isa<ArraySubscriptExpr>(e)) return base_of(e);  // a row of an image
    return variable_of(e);                              // its declaration is checked
  }

  /// asm("name") after a declaration.
  void label(const Decl *d) {
    if (d->hasAttr<AsmLabelAttr>())
      said_at(unit_.place(d->getLocation()), "assembler is not allowed");
  }
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
  // State of the code being checked.
  const WindowBody *body_ = nullptr;
  const std::vector<Loop> *nest_ = nullptr;
  double turns_ = 1;  // iterations of the loops around
  std::vector<const FunctionDecl *> calling_;

  std::map<const FunctionDecl *, double> checked_;  // and the iterations it was checked for
  std::set<const VarDecl *> variables_;
  std::set<const Expr *> members_of_;
  Aliased aliased_;
  double bytes_ = 0;
  bool said_size_ = false;
};

}  // namespace

void check_strict(const Unit &unit, const std::vector<std::unique_ptr<Kernel>> &kernels) {
  check_text(unit.source, unit.notes);
  Checker checker(unit);
  std::set<const FunctionDecl *> functions;
  for (const auto &kernel : kernels) {
    checker.window(*kernel);
    functions.insert(kernel->functions.begin(), kernel->functions.end());
  }
  checker.others(unit.ast.getTranslationUnitDecl());
  for (const FunctionDecl *f : functions) checker.called(f, nullptr);
}

}  // namespace cudascan::gswo
