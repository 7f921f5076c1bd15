// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gswo/host_code.h"

#include <clang/AST/DeclTemplate.h>
#include <clang/AST/StmtCXX.h>

#include <algorithm>

#include "gswo/ast_walker.h"
#include "gswo/touches.h"

namespace cudascan::gswo {

using namespace clang;

namespace {

/// Announces the host code of one function.
class Walker {
 public:
  /// @param everywhere  not only in regions
  Walker(const Unit &unit, Touches &touches, bool everywhere)
      : unit_(unit), touches_(touches), everywhere_(everywhere) {}

  Edits edits;
  bool known = true;  ///< all of it could be announced

  /// @param in_block  a declaration may stand before it
  void walk(const Stmt *s, bool in_block) {
    if (!s || isa<NullStmt>(s) || is_in_windows(s)) return;
    if (const auto *block = dyn_cast<CompoundStmt>(s)) {
      if (has_parallel(s))
        for (const Stmt *child : block->body()) walk(child, true);
      else
        announce(s, touches_.of(s), in_block);
      return;
    }
    if (const auto *label = dyn_cast<LabelStmt>(s)) return walk(label->getSubStmt(), in_block);
    if (const auto *choice = dyn_cast<SwitchCase>(s)) return walk(choice->getSubStmt(), in_block);
    if (const auto *marked = dyn_cast<AttributedStmt>(s))
      return walk(marked->getSubStmt(), in_block);
    if (const auto *attempt = dyn_cast<CXXTryStmt>(s)) {
      walk(attempt->getTryBlock(), false);
      for (unsigned k = 0; k < attempt->getNumHandlers(); ++k)
        walk(attempt->getHandler(k)->getHandlerBlock(), false);
      return;
    }
    if (!has_parallel(s)) {
      announce(s, touches_.of(s), in_block);
      if (const auto *declaration = dyn_cast<DeclStmt>(s)) guard(*declaration);
    } else if (const auto *loop = dyn_cast<ForStmt>(s)) {
      before(s, loop->getInit(), in_block);
      if (loop->getConditionVariable()) known &= !is_needed(s);
      wrap(loop->getCond());
      wrap(loop->getInc());
      walk(loop->getBody(), false);
    } else if (const auto *turns = dyn_cast<WhileStmt>(s)) {
      if (turns->getConditionVariable()) known &= !is_needed(s);
      wrap(turns->getCond());
      walk(turns->getBody(), false);
    } else if (const auto *again = dyn_cast<DoStmt>(s)) {
      walk(again->getBody(), false);
      wrap(again->getCond());
    } else if (const auto *test = dyn_cast<IfStmt>(s)) {
      before(s, test->getInit(), in_block, test->getConditionVariableDeclStmt(), test->getCond());
      walk(test->getThen(), false);
      walk(test->getElse(), false);
    } else if (const auto *choices = dyn_cast<SwitchStmt>(s)) {
      before(s, choices->getInit(), in_block, choices->getConditionVariableDeclStmt(),
             choices->getCond());
      walk(choices->getBody(), false);
    } else if (const auto *each = dyn_cast<CXXForRangeStmt>(s)) {
      // The implied code runs again and again, so it must not touch images.
      const auto *record =
          each->getRangeInit()->getType().getNonReferenceType()->getAsCXXRecordDecl();
      if (record || touches_.may_be_pixel(each->getLoopVariable()->getType()))
        known &= !is_needed(s);
      before(s, each->getInit(), in_block, each->getRangeInit());
      walk(each->getBody(), false);
    } else if (isa<Expr>(s) || isa<ReturnStmt>(s) || isa<DeclStmt>(s)) {
      // It calls a function with windows.
      if (touches_.of(s) != Touch::nothing) announce(s, Touch::changes, in_block);
      if (const auto *declaration = dyn_cast<DeclStmt>(s)) guard(*declaration);
    } else {
      known &= !is_needed(s);
    }
  }

 private:
  const Pragma *pragma_around(const Stmt *s, PragmaKind kind) const {
    const unsigned at = unit_.place(s);
    for (const Pragma &p : unit_.notes.pragmas)
      if (p.kind == kind && p.open <= at && at <= p.close) return &p;
    return nullptr;
  }
  bool is_in_windows(const Stmt *s) const { return pragma_around(s, PragmaKind::parallel); }
  bool is_needed(const Stmt *s) const {
    return everywhere_ || pragma_around(s, PragmaKind::region);
  }

  bool has_windows(const Stmt *s) const {
    return is_in_windows(s) || std::any_of(s->child_begin(), s->child_end(),
                                           [&](const Stmt *c) { return c && has_windows(c); });
  }
  bool has_parallel(const Stmt *s) const { return has_windows(s) || touches_.calls_parallel(s); }

  static std::string call(Touch touch) {
    return touch == Touch::reads ? "gswo::host_reads()" : "gswo::host_changes()";
  }

  void announce(const Stmt *s, Touch touch, bool in_block) {
    if (touch == Touch::nothing || !is_needed(s)) return;
    const auto range = unit_.extent(s);
    if (!range) return void(known = false);
    const bool braces = !in_block && !isa<DeclStmt>(s);
    edits.insert({range->begin, range->begin, (braces ? "{ " : "") + call(touch) + "; "});
    if (braces) edits.insert({range->end, range->end, " }"});
  }

  /// Announces parts that run once, before a statement.
  template <typename... Parts>
  void before(const Stmt *s, const Stmt *part, bool in_block, const Parts *...parts) {
    Touch touch = touches_.of(part);
    bool parallel = part && touches_.calls_parallel(part);
    ((touch = std::max(touch, touches_.of(parts)),
      parallel |= parts && touches_.calls_parallel(parts)),
     ...);
    if (touch != Touch::nothing && parallel) touch = Touch::changes;
    announce_whole(s, touch, in_block);
  }
  /// The same for a statement whose inner parts are announced, too.
  void announce_whole(const Stmt *s, Touch touch, bool in_block) {
    if (touch != Touch::nothing && !in_block) return void(known &= !is_needed(s));
    announce(s, touch, true);
  }

  /// Announces an expression that runs again and again.
  void wrap(const Expr *e) {
    Touch touch = touches_.of(e);
    if (touch == Touch::nothing || !is_needed(e)) return;
    if (touches_.calls_parallel(e)) touch = Touch::changes;
    const CharSourceRange chars = unit_.files.getExpansionRange(e->getSourceRange());
    const auto range = unit_.typed(e->getSourceRange());
    if (!range || chars.isInvalid()) return void(known = false);
    edits.insert({range->begin, range->begin, "(" + call(touch) + ", "});
    edits.insert({range->end, range->end, ")"});
  }

  /// Objects of the standard library own elements of the type of their first argument, if any.
  bool may_own_pixels(const CXXRecordDecl &record) const {
    if (!record.isInStdNamespace()) return true;
    const auto *special = dyn_cast<ClassTemplateSpecializationDecl>(&record);
    if (!special || record.getNameAsString() == "basic_string") return false;
    const TemplateArgument &first = special->getTemplateArgs()[0];
    return first.getKind() == TemplateArgument::Type &&
           touches_.may_be_pixel(unit_.ast.getBaseElementType(first.getAsType()));
  }

  /// The end of variables that may be images, or may own some.
  void guard(const DeclStmt &s) {
    if (!is_needed(&s)) return;
    std::string text;
    for (const Decl *d : s.decls()) {
      const auto *v = dyn_cast<VarDecl>(d);
      if (!v || v->isStaticLocal() || v->getType()->isReferenceType()) continue;
      const QualType type = v->getType(), element = unit_.ast.getBaseElementType(type);
      const auto *record = element->getAsCXXRecordDecl();
      const std::string name = "g_" + name_of(v) + "_end";
      if (record && !record->hasTrivialDestructor()) {
        if (may_own_pixels(*record)) text += " const gswo::Leaving " + name + ";";
      } else if ((type->isArrayType() || record) && !unit_.is_constant(type) &&
                 touches_.may_be_pixel(element)) {
        known &= !type->isVariableArrayType();
        text += " const gswo::Ending " + name + "(" + name_of(v) + ");";
      }
    }
    if (text.empty()) return;
    const auto range = unit_.extent(&s);
    if (!range) return void(known = false);
    edits.insert({range->end, range->end, text});
  }

  const Unit &unit_;
  Touches &touches_;
  const bool everywhere_;
};

}  // namespace

HostCode::HostCode(const Unit &unit, const std::vector<std::unique_ptr<Kernel>> &kernels)
    : unit_(unit) {
  for (const auto &k : kernels) {
    known_.insert(k->function->getCanonicalDecl());
    for (const Image &i : k->images) {
      pixels_.insert(pixel_name(i.type));
      if (i.record) add_members(*i.record);
    }
  }
  find_regions();
  // A function that is not known makes calls of it unknown.
  for (bool again = true; again;) {
    again = false;
    find_called();
    for (const FunctionDecl *f : std::set<const FunctionDecl *>(known_)) {
      bool known = true;
      announcements(f, known);
      if (!known) known_.erase(f), again = true;
    }
  }
}

void HostCode::add_members(const RecordDecl &record) {
  for (const FieldDecl *f : record.fields()) {
    const QualType type = unit_.ast.getBaseElementType(f->getType()).getCanonicalType();
    pixels_.insert(pixel_name(unit_.type_name(type)));
    if (const RecordDecl *inner = type->getAsRecordDecl()) add_members(*inner);
  }
}

void HostCode::find_regions() {
  struct Functions : AstWalker {
    std::vector<FunctionDecl *> all;
    bool VisitFunctionDecl(FunctionDecl *f) override {
      if (f->doesThisDeclarationHaveABody() && !f->isDependentContext() && !isa<CXXMethodDecl>(f))
        all.push_back(f);
      return true;
    }
  } functions;
  functions.TraverseDecl(unit_.ast.getTranslationUnitDecl());
  for (const FunctionDecl *f : functions.all) {
    const auto body = unit_.typed(f->getBody()->getSourceRange());
    const bool has_region =
        body &&
        std::any_of(unit_.notes.pragmas.begin(), unit_.notes.pragmas.end(), [&](const Pragma &p) {
          return p.kind == PragmaKind::region && body->begin < p.open && p.close < body->end;
        });
    if (has_region && known_.insert(f->getCanonicalDecl()).second) regions_.insert(f);
  }
}

void HostCode::find_called() {
  called_.clear();
  for (const FunctionDecl *callee : known_) {
    const std::set<const FunctionDecl *> one{callee};
    const Touches touches(unit_, pixels_, one);
    for (const FunctionDecl *f : known_) {
      const FunctionDecl *body = nullptr;
      if (f->hasBody(body) && touches.calls_parallel(body->getBody())) called_.insert(callee);
    }
  }
}

Edits HostCode::announcements(const FunctionDecl *f, bool &known) const {
  const FunctionDecl *body = nullptr;
  if (!f->hasBody(body)) return {};
  Touches touches(unit_, pixels_, known_);
  Walker walker(unit_, touches, called_.count(f));
  walker.walk(body->getBody(), false);
  known = walker.known;
  return walker.edits;
}

bool HostCode::is_known(const FunctionDecl *f) const {
  return known_.count(f->getCanonicalDecl());
}

Edits HostCode::edits(const FunctionDecl *f) const {
  bool known = true;
  return is_known(f) ? announcements(f->getCanonicalDecl(), known) : Edits();
}

}  // namespace cudascan::gswo
