// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gswo/check_generated.h"

#include <llvm/ADT/SmallString.h>

#include <algorithm>
#include <utility>

#include "gswo/compile.h"

namespace cudascan::gswo {

using namespace clang;

namespace {

class Messages : public DiagnosticConsumer {
 public:
  Messages(Source &source, std::set<std::string> carried)
      : source_(source), carried_(std::move(carried)) {}

  void HandleDiagnostic(DiagnosticsEngine::Level level, const Diagnostic &message) override {
    DiagnosticConsumer::HandleDiagnostic(level, message);
    if (level < DiagnosticsEngine::Note || !message.hasSourceManager()) return;
    llvm::SmallString<128> text;
    message.FormatDiagnostic(text);
    const PresumedLoc at = message.getSourceManager().getPresumedLoc(message.getLocation());
    const std::string said = text.str().str();
    const bool in_user_file = at.isValid() && source_.name() == at.getFilename();
    if (level >= DiagnosticsEngine::Error) {
      flush();
      if (in_user_file)
        source_.error_in_line(at.getLine(), at.getColumn(), "in a kernel: " + said);
      else
        source_.error(0, "this can't be translated because the result would not compile: " + said);
    } else if (level == DiagnosticsEngine::Warning) {
      flush();
      // "variable 'x' ..."
      const auto quote = said.find('\'');
      if (quote == std::string::npos) return;
      name_ = said.substr(quote + 1, said.find('\'', quote + 1) - quote - 1);
      line_ = in_user_file ? at.getLine() : 0;
    } else if (in_user_file && said == "uninitialized use occurs here") {
      line_ = at.getLine();
    }
  }

  /// Reports the last warning at the place where the value is used, which a later note may give.
  void flush() {
    const std::string name = std::exchange(name_, "");
    if (!carried_.count(name)) return;
    const bool pixel = name.size() > 3 && name.compare(name.size() - 3, 3, "_px") == 0;
    source_.error_in_line(std::max(line_, 1u), 1,
                          "'" + (pixel ? name.substr(0, name.size() - 3) : name) +
                              "' may hold a value of another window here; windows are independent, "
                              "so set it on "
                              "every path through the window, preferably at its beginning");
  }

 private:
  Source &source_;
  std::set<std::string> carried_;
  std::string name_;  // of the variable in the last warning
  unsigned line_ = 0;
};

}  // namespace

void check_generated(Source &source, const Options &options,
                     const std::vector<std::unique_ptr<Kernel>> &kernels, const std::string &text) {
  std::set<std::string> carried;
  for (const auto &k : kernels) carried.insert(k->carried.begin(), k->carried.end());
  Messages messages(source, std::move(carried));
  parse(options, text, source.name() + ".gswo.cpp",
        {"-xc++", "-std=c++20", "-Wno-everything", "-Wuninitialized", "-Wsometimes-uninitialized",
         "-Wconditional-uninitialized", "-ferror-limit=20", "-I/gswo-runtime/gswo"},
        &messages);
  messages.flush();
}

}  // namespace cudascan::gswo
