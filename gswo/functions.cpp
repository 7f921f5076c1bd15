// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds the functions that windows call, and unrolls loops so that windows stay in registers and
// compilers can vectorise across pixels.
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ParentMapContext.h>

#include <algorithm>

#include "gswo/kernel.h"

namespace cudascan::gswo {

using namespace clang;

namespace {

constexpr long kMostTurns = 64;
/// Copies of the innermost statement that unrolled loops make together.
constexpr long kMostCopies = 4096;

const FunctionDecl *called_by(const Expr *e) {
  if (const auto *call = dyn_cast<CallExpr>(e)) return call->getDirectCallee();
  return cast<CXXConstructExpr>(e)->getConstructor();
}

bool contains(const Stmt *outer, const Stmt *inner) {
  return std::any_of(outer->child_begin(), outer->child_end(), [&](const Stmt *child) {
    return child && (child == inner || contains(child, inner));
  });
}

/// Puts GSWO_UNROLL before the loops of `code` whose number of iterations is known and small.
/// @param otherwise  put before loops with an unknown number of iterations
void unroll(const Unit &unit, const WindowBody &code, Evaluator &value, const char *otherwise,
            Edits &edits) {
  std::map<const ForStmt *, long> turns;  // 0 = not known
  std::string why;
  for (const ForStmt *statement : code.loops) {
    const auto loop = read_loop(statement, unit.ast, why);
    turns[statement] = loop ? value.most_turns(*loop).value_or(0) : 0;
  }
  for (const ForStmt *statement : code.loops) {
    const SourceLocation at = statement->getForLoc();
    const auto place = unit.typed(at);
    if (!place || at.isMacroID()) continue;
    long copies = turns[statement];
    for (const auto &[inner, n] : turns)
      if (inner != statement && n > 0 && n <= kMostTurns && contains(statement->getBody(), inner) &&
          copies <= kMostCopies)
        copies *= n;
    const bool dependent = statement->getCond() && statement->getCond()->isValueDependent();
    if (dependent ||
        (turns[statement] > 0 && turns[statement] <= kMostTurns && copies <= kMostCopies))
      edits.insert({*place, *place, "GSWO_UNROLL "});
    else if (*otherwise && !turns[statement])
      edits.insert({*place, *place, otherwise});
  }
}

class Finder {
 public:
  Finder(const Unit &unit, Kernel &kernel)
      : unit_(unit), kernel_(kernel), value_(unit, kernel.nest, kernel.window) {}

  void find() {
    for (const Expr *e : kernel_.window.calls) {
      if (const auto *call = dyn_cast<CallExpr>(e)) clone(call);
      function(called_by(e), unit_.place(e));
    }
    for (const Loop &loop : kernel_.nest)
      kernel_.initialisers.insert(kernel_.initialisers.end(), {loop.first, loop.bound});
    for (const Expr *e : kernel_.initialisers)
      for (const Expr *call : read_code(unit_, e).calls)
        function(called_by(call), unit_.place(call));
    unroll(unit_, kernel_.window, value_, "", kernel_.edits);
  }

 private:
  /// Keeps a function of the file and the functions it calls.
  void function(const FunctionDecl *called, unsigned at) {
    if (!called || called->isImplicit() || called->isDefaulted()) return;
    if (const auto *method = dyn_cast<CXXMethodDecl>(called);
        method && method->getParent()->isLambda())
      return;
    if (const FunctionDecl *pattern = called->getTemplateInstantiationPattern()) {
      instantiation(called, at);
      called = pattern;
    }
    const FunctionDecl *defined = nullptr;
    if (!called->hasBody(defined) || !unit_.in_file(defined->getLocation())) return;
    if (calling_.count(defined))
      return unit_.error(
          at, "'" + defined->getNameAsString() + "' calls itself; windows can't, write a loop");
    if (!kernel_.functions.insert(defined).second) return;
    calling_.insert(defined);
    body(defined, true);
    calling_.erase(defined);
  }

  /// The calls and globals of a template are known only when its types are.
  void instantiation(const FunctionDecl *called, unsigned at) {
    const FunctionDecl *defined = nullptr;
    if (!called->hasBody(defined) || !unit_.in_file(defined->getLocation())) return;
    if (calling_.count(defined))
      return unit_.error(
          at, "'" + defined->getNameAsString() + "' calls itself; windows can't, write a loop");
    if (!instantiated_.insert(defined).second) return;
    calling_.insert(defined);
    body(defined, false);
    calling_.erase(defined);
  }

  void body(const FunctionDecl *defined, bool as_written) {
    const WindowBody code = read_code(unit_, defined->getBody());
    for (const Reference &r : code.references) {
      if (!r.variable->hasGlobalStorage() || r.variable->isStaticLocal() ||
          !unit_.in_file(r.variable->getLocation()))
        continue;
      if (!unit_.is_constant(r.variable->getType()))
        unit_.error(unit_.place(r.name),
                    "the window uses the variable '" + name_of(r.variable) +
                        "' through a function, and it can change; make it const "
                        "or a parameter");
      else
        kernel_.globals.insert(r.variable);
    }
    for (const VarDecl *v : code.own)
      if (v->isStaticLocal() && !unit_.is_constant(v->getType()))
        unit_.error(unit_.place(v->getLocation()), "'" + name_of(v) +
                                                       "' is static, so it carries a "
                                                       "value from one window to the "
                                                       "next; remove 'static'");
    for (const Expr *call : code.calls) function(called_by(call), unit_.place(call));
    if (!as_written) return;
    // After inlining, the other loops often get a known number of iterations.
    Evaluator value(unit_, no_nest_, code);
    unroll(unit_, code, value, "GSWO_UNROLL_INLINED ", kernel_.function_edits);
  }

  /// The value of an argument. It may be a counter such as the n of `v[n++]` in loops of known
  /// length.
  std::optional<long> known(const Expr *argument) {
    const MaybeForm form = value_(argument);
    if (form && form->is_number()) return form->low;
    const VarDecl *variable = variable_of(argument);
    if (!variable || !kernel_.window.own.count(variable) || !variable->hasInit()) return {};
    const auto start = constant_of(variable->getInit(), unit_.ast);
    const Reference *step = nullptr;
    for (const Reference &r : kernel_.window.references) {
      if (r.variable != variable || !r.access.write) continue;
      if (step) return {};
      step = &r;
    }
    if (!start || !step || step->access.plain || step->access.escapes) return {};
    return counted(*step, *start, unit_.place(argument));
  }

  std::optional<long> counted(const Reference &step, long start, unsigned used) {
    long turns = 1;
    const Stmt *from = step.name;
    unsigned end = unit_.place(step.name);
    std::string why;
    for (auto parents = unit_.ast.getParents(*step.name); !parents.empty();
         parents = unit_.ast.getParents(parents[0])) {
      const auto *s = parents[0].get<Stmt>();
      if (!s || s == kernel_.body) break;
      if (const auto *loop = dyn_cast<ForStmt>(s)) {
        const auto read = read_loop(loop, unit_.ast, why);
        const auto n = read && loop->getBody() == from ? value_.turns(*read) : std::nullopt;
        if (!n || *n > kMostCopies || (turns *= *n) > kMostCopies) return {};
        end = unit_.place(loop->getEndLoc());
      } else if (const auto *unary = dyn_cast<UnaryOperator>(s)) {
        if (!unary->isIncrementOp() && unary->isIncrementDecrementOp()) return {};
      } else if (isa<CompoundAssignOperator>(s) && from == step.name) {
        return {};
      } else if (isa<BinaryOperator>(s) && cast<BinaryOperator>(s)->isLogicalOp()) {
        return {};
      } else if (!isa<CompoundStmt>(s) && !isa<Expr>(s)) {
        return {};
      } else if (isa<AbstractConditionalOperator>(s) || isa<LambdaExpr>(s)) {
        return {};
      }
      from = s;
    }
    if (used <= end || !kernel_.window.continues.empty()) return {};
    return start + turns;
  }

  /// A function whose loops run to a parameter of known value gets a copy with that constant, so
  /// that its data stays in registers.
  void clone(const CallExpr *call) {
    const FunctionDecl *called = call->getDirectCallee(), *defined = nullptr;
    if (!called || isa<CXXMethodDecl>(called) || called->getTemplateInstantiationPattern() ||
        !called->hasBody(defined) || !unit_.in_file(defined->getLocation()))
      return;
    const auto *callee = dyn_cast<DeclRefExpr>(bare(call->getCallee()));
    const auto name = callee ? unit_.typed(callee->getSourceRange()) : std::nullopt;
    const auto whole = unit_.typed(defined->getSourceRange());
    const auto block = unit_.typed(defined->getBody()->getSourceRange());
    const auto title = unit_.typed(SourceRange(defined->getLocation()));
    if (!name || !whole || !block || !title || callee->hasQualifier() ||
        defined->getDeclContext()->getRedeclContext() !=
            kernel_.function->getDeclContext()->getRedeclContext())
      return;
    const WindowBody code = read_code(unit_, defined->getBody());
    std::string suffix, constants;
    Edits edits;
    for (unsigned k = 0; k < call->getNumArgs() && k < defined->getNumParams(); ++k) {
      const ParmVarDecl *parameter = defined->getParamDecl(k);
      const auto place = unit_.typed(SourceRange(parameter->getLocation()));
      if (!parameter->getType()->isIntegerType() || !place || !bounds_loop(code, parameter))
        continue;
      const auto value = known(call->getArg(k));
      if (!value || *value < 0) continue;
      suffix += "_" + name_of(parameter) + std::to_string(*value);
      constants +=
          " constexpr " +
          unit_.declaration(parameter->getType().getUnqualifiedType(), name_of(parameter)) + " = " +
          std::to_string(*value) + ";";
      edits.insert({place->begin, place->end, ""});
      known_[parameter] = *value;
    }
    if (suffix.empty()) return;
    const std::string copied = defined->getNameAsString() + suffix;
    edits.insert({title->begin, title->end, copied});
    edits.insert({block->begin + 1, block->begin + 1, constants});
    for (const ForStmt *loop : code.loops)
      if (const auto place = unit_.typed(loop->getForLoc());
          place && turns_with(loop) <= kMostTurns)
        edits.insert({*place, *place, "GSWO_UNROLL "});
    kernel_.edits.insert({name->begin, name->end, copied});
    kernel_.clones[copied] = unit_.source.line_directive(unit_.source.line(whole->begin)) +
                             "GSWO_DEVICE " + apply(unit_.source, *whole, edits) + "\n";
    known_.clear();
  }

  static bool bounds_loop(const WindowBody &code, const ParmVarDecl *parameter) {
    bool bounds = false;
    for (const ForStmt *loop : code.loops)
      if (loop->getCond())
        for (const VarDecl *v : variables_in(loop->getCond())) bounds |= v == parameter;
    for (const Reference &r : code.references)
      if (r.variable == parameter && r.access.write) return false;
    return bounds;
  }

  /// Upper bound of the iterations, if the bound is at most a parameter that became a constant.
  long turns_with(const ForStmt *statement) const {
    std::string why;
    const auto loop = read_loop(statement, unit_.ast, why);
    if (!loop) return kMostTurns + 1;
    long most = 0;
    for (const VarDecl *v : variables_in(loop->bound)) {
      const auto value = known_.find(v);
      most = std::max(most, value == known_.end() ? 0 : value->second);
    }
    return most && most <= kMostTurns ? most : kMostTurns + 1;
  }

  const Unit &unit_;
  Kernel &kernel_;
  Evaluator value_;
  const std::vector<Loop> no_nest_;
  std::set<const FunctionDecl *> calling_, instantiated_;
  std::map<const VarDecl *, long> known_;
};

}  // namespace

void find_functions(const Unit &unit, Kernel &kernel) {
  Finder(unit, kernel).find();
}

}  // namespace cudascan::gswo
