// SPDX-License-Identifier: LGPL-2.1-or-later
// Sources for gswo-cc --strict, under libFuzzer: any text is translated or refused. Translated text
// contains nothing that strict must refuse according to docs/gswo.md.
#include <clang/Frontend/ASTUnit.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "gswo/ast_walker.h"
#include "gswo/compile.h"
#include "gswo/translate.h"
#include "tests/gswo/damage.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t *data, std::size_t size, std::size_t most);

namespace cudascan::gswo::test {
namespace {

using namespace clang;

constexpr const char *kFile = "fuzz.cpp";

/// Checks the generated code again, in the lines from the user's file.
class Oracle : public AstWalker {
 public:
  explicit Oracle(ASTUnit &unit) : files_(unit.getSourceManager()) {
    TraverseDecl(unit.getASTContext().getTranslationUnitDecl());
  }

  bool VisitStmt(Stmt *s) override {
    const std::string kind = s->getStmtClassName();
    for (const char *refused : {"While", "DoStmt", "Goto", "Asm", "New", "Delete", "Throw", "Try",
                                "Typeid", "ForRange", "Coroutine", "AddrLabel"})
      if (kind.find(refused) != kind.npos && is_users(s->getBeginLoc()))
        fail(kind, s->getBeginLoc());
    return true;
  }
  bool VisitFieldDecl(FieldDecl *f) override { return no_pointer(f); }
  bool VisitVarDecl(VarDecl *v) override { return isa<ParmVarDecl>(v) || no_pointer(v); }
  bool VisitCallExpr(CallExpr *call) override {
    const FunctionDecl *f = call->getDirectCallee();
    if (!is_users(call->getBeginLoc()) || !f || f->getBuiltinID() || !f->getIdentifier())
      return true;
    const std::string file = files_.getFilename(files_.getExpansionLoc(f->getLocation())).str();
    constexpr std::array kMath{"math", "std_abs", "algo", "move", "gswo", "generated"};
    if (std::none_of(kMath.begin(), kMath.end(),
                     [&](const char *word) { return file.find(word) != file.npos; }) &&
        f->getName() != "abs" && f->getName() != "labs")
      fail("call of " + f->getNameAsString() + " in " + file, call->getBeginLoc());
    return true;
  }

 private:
  bool is_users(SourceLocation at) const {
    const PresumedLoc line = files_.getPresumedLoc(at);
    return line.isValid() && std::string(line.getFilename()) == kFile;
  }
  bool no_pointer(const ValueDecl *d) {
    const std::string type = d->getType().getCanonicalType().getAsString();
    if (is_users(d->getLocation()) && type.find('*') != type.npos &&
        type.find("lambda") == type.npos)
      fail(d->getNameAsString() + " of " + type, d->getLocation());
    return true;
  }
  [[noreturn]] void fail(const std::string &what, SourceLocation at) const {
    std::cout << "strict let through: " << what << " at " << at.printToString(files_) << std::endl;
    std::abort();
  }

  const SourceManager &files_;
};

/// Code that strict must refuse, to be inserted anywhere.
constexpr std::array kRefused{"int *q = 0; *q = 1;",
                              "while (1) ;",
                              "do ; while (1);",
                              "here: goto here;",
                              "for (;;) ;",
                              "for (int k = 0; k < 9; k--) ;",
                              "for (int k = 0; k < 9; ++k) k = 0;",
                              "int large[500000000];",
                              "int *some[3];",
                              "union { int *q; long n; } u; u.n = 8;",
                              "struct Next { Next *next; int n; } s; s.next->n = 1;",
                              "asm(\"nop\");",
                              "new int;",
                              "throw 1;",
                              "try { } catch (...) { }",
                              "const char *text = \"text\";",
                              "(void)\"text\"[0];",
                              "int here[2] = {1, 2}; for (int k : here) ;",
                              "auto f = [] { return 1; }; +f;",
                              "int (*f)() = 0; f();",
                              "__builtin_trap();",
                              "extern int other; other = 1;",
                              "int own = 0; int &r = own; *&r = 1;",
                              "reinterpret_cast<int &>(own) = 1;",
                              "template <class T> T *make(T &t) { return &t; }",
                              "\n#include \"/etc/passwd\"\n",
                              "\n#define while if\n",
                              "[[gnu::constructor]] void first() { }"};

std::string with_refused(std::string text, Damage &damage) {
  std::vector<std::size_t> places{0};
  for (std::size_t k = 0; k < text.size(); ++k)
    if (text[k] == ';' || text[k] == '{' || text[k] == '\n') places.push_back(k + 1);
  text.insert(places[damage.below(places.size())], kRefused[damage.below(kRefused.size())]);
  return text;
}

void run(const std::string &text) {
  Options options;
  options.input = kFile;
  options.strict = options.system_headers = true;
  for (const char *parameter : {"win", "r", "radius", "window_width", "window_height"})
    options.constants[parameter] = {"3", 3};
  Source source(kFile, text);
  const auto generated = translate(source, options);
  if (!generated) return;
  if (source.errors()) std::abort();
  const auto unit =
      parse(options, *generated, "generated.cpp",
            {"-xc++", "-std=c++20", "-Wno-everything", "-I/gswo-runtime/gswo"}, nullptr);
  if (!unit || unit->getDiagnostics().hasErrorOccurred()) std::abort();
  Oracle{*unit};
}

}  // namespace
}  // namespace cudascan::gswo::test

/// Most changes leave the text a valid program.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t *data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  using namespace cudascan::gswo::test;
  if (seed % 8 == 0) return LLVMFuzzerMutate(data, size, most);
  Damage damage(seed);
  std::string text(reinterpret_cast<const char *>(data), size);
  text = seed % 8 == 1  ? damage.heavy(text, text)
         : seed % 8 < 5 ? with_refused(text, damage)
                        : damage.mild(text);
  text.resize(std::min(text.size(), most));
  std::copy(text.begin(), text.end(), data);
  return text.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  cudascan::gswo::test::run(std::string(reinterpret_cast<const char *>(data), size));
  return 0;
}
