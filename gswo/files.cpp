// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks the files that a source includes, as Clang's preprocessor finds them.
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendActions.h>
#include <clang/Lex/HeaderSearch.h>
#include <clang/Lex/Preprocessor.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/Support/FileSystem.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "gswo/compile.h"
#include "gswo/strict.h"

namespace cudascan::gswo {

using namespace clang;

namespace {

constexpr std::array<std::string_view, 11> kHeaders{"math.h",   "cmath",   "stdlib.h", "cstdlib",
                                                    "stdint.h", "cstdint", "stddef.h", "cstddef",
                                                    "limits.h", "climits", "algorithm"};

#if LLVM_VERSION_MAJOR < 15
using IncludedFile = const FileEntry *;
#elif LLVM_VERSION_MAJOR < 16
using IncludedFile = Optional<FileEntryRef>;
#else
using IncludedFile = OptionalFileEntryRef;
#endif
#if LLVM_VERSION_MAJOR < 16
using MaybeFile = Optional<FileEntryRef>;
#else
using MaybeFile = OptionalFileEntryRef;
#endif

/// Without links and "..".
std::string real_path(llvm::StringRef path) {
  llvm::SmallString<256> real;
  return llvm::sys::fs::real_path(path, real) ? path.str() : real.str().str();
}

class Watcher : public PPCallbacks {
 public:
  Watcher(Source &source, bool strict, Preprocessor &preprocessor, std::set<std::string> &foreign)
      : source_(source),
        strict_(strict),
        preprocessor_(preprocessor),
        files_(preprocessor.getSourceManager()),
        foreign_(foreign) {}

  void FileChanged(SourceLocation at, FileChangeReason reason, SrcMgr::CharacteristicKind,
                   FileID) override {
    if (reason != EnterFile) return;
    const FileID file = files_.getFileID(at);
    const llvm::StringRef name = files_.getFilename(at);
    if (file == files_.getMainFileID() || name.empty() || is_of_system(name)) return;
    refuse(files_.getIncludeLoc(file), name);
  }
  void InclusionDirective(SourceLocation at, const clang::Token &directive, llvm::StringRef name,
                          bool is_angled, CharSourceRange, IncludedFile, llvm::StringRef,
                          llvm::StringRef, const Module *,
#if LLVM_VERSION_MAJOR >= 19
                          bool,
#endif
                          SrcMgr::CharacteristicKind) override {
    if (!strict_ || !in_main(at)) return;
    const std::string word = directive.getIdentifierInfo()->getName().str();
    if (word != "include" || !is_angled ||
        std::find(kHeaders.begin(), kHeaders.end(), name.str()) == kHeaders.end())
      source_.error(place(at), "'#" + word + (is_angled ? " <" : " \"") + name.str() +
                                   (is_angled ? ">" : "\"") +
                                   "' is not allowed; only mathematical headers of "
                                   "C and C++ are (strict)");
  }
  void HasInclude(SourceLocation at, llvm::StringRef name, bool, MaybeFile file,
                  SrcMgr::CharacteristicKind) override {
    if (file ? !is_of_system(file->getName()) : in_main(at) && leads_elsewhere(name))
      refuse(at, name);
  }
#if LLVM_VERSION_MAJOR >= 19
  void EmbedDirective(SourceLocation at, llvm::StringRef name, bool, MaybeFile,
                      const LexEmbedParametersResult &) override {
    refuse(at, name);
  }
  void HasEmbed(SourceLocation at, llvm::StringRef name, bool, MaybeFile) override {
    refuse(at, name);
  }
#endif
  void MacroDefined(const clang::Token &name, const MacroDirective *) override {
    if (!in_main(name.getLocation()) && name.getIdentifierInfo())
      foreign_.insert(name.getIdentifierInfo()->getName().str());
  }
  /// Refuses names that compilers predefine, because they differ between compilers.
  void MacroExpands(const clang::Token &name, const MacroDefinition &macro, SourceRange range,
                    const MacroArgs *) override {
    const MacroInfo *info = macro.getMacroInfo();
    if (!strict_ || !in_main(range.getBegin()) || !info) return;
    const SourceLocation defined = info->getDefinitionLoc();
    if (info->isBuiltinMacro() || files_.isWrittenInBuiltinFile(defined))
      source_.error(place(range.getBegin()), "'" + name.getIdentifierInfo()->getName().str() +
                                                 "' differs between compilers; it is not "
                                                 "allowed (strict)");
  }

 private:
  static bool leads_elsewhere(llvm::StringRef name) {
    return name.startswith("/") || name.contains("..");
  }
  bool in_main(SourceLocation at) const {
    return at.isValid() && files_.getFileID(files_.getExpansionLoc(at)) == files_.getMainFileID();
  }
  bool is_of_system(llvm::StringRef file) {
    if (folders_.empty()) {
      const HeaderSearch &search = preprocessor_.getHeaderSearchInfo();
      for (auto folder = search.system_dir_begin(); folder != search.system_dir_end(); ++folder)
        if (folder->isNormalDir()) folders_.push_back(real_path(folder->getName()) + "/");
    }
    const std::string path = real_path(file);
    return std::any_of(folders_.begin(), folders_.end(), [&](const std::string &folder) {
      return path.compare(0, folder.size(), folder) == 0;
    });
  }
  /// The place in the user's file, also for code in its headers.
  unsigned place(SourceLocation at) const {
    while (at.isValid() && !in_main(at))
      at = files_.getIncludeLoc(files_.getFileID(files_.getExpansionLoc(at)));
    return at.isValid() ? files_.getFileOffset(files_.getExpansionLoc(at)) : 0;
  }
  void refuse(SourceLocation at, llvm::StringRef name) {
    if (source_.errors() == 0 || !strict_)  // strict has already reported the name
      source_.error(place(at), "\"" + name.str() +
                                   "\" is not a system header, and a filter can include "
                                   "no other files; copy what you need into the filter's file");
  }

  Source &source_;
  const bool strict_;
  Preprocessor &preprocessor_;
  const SourceManager &files_;
  std::set<std::string> &foreign_;
  std::vector<std::string> folders_;
};

class Preprocess : public PreprocessOnlyAction {
 public:
  Preprocess(Source &source, bool strict, std::set<std::string> &foreign)
      : source_(source), strict_(strict), foreign_(foreign) {}

  bool BeginSourceFileAction(CompilerInstance &compiler) override {
    // Parsing reports these errors later.
    compiler.getDiagnostics().setClient(new IgnoringDiagConsumer, /*ShouldOwnClient=*/true);
    Preprocessor &preprocessor = compiler.getPreprocessor();
    preprocessor.addPPCallbacks(
        std::make_unique<Watcher>(source_, strict_, preprocessor, foreign_));
    return true;
  }

 private:
  Source &source_;
  const bool strict_;
  std::set<std::string> &foreign_;
};

/// A condition after #if must be the same for all compilers: only names that the file defines, or a
/// constant.
void check_conditions(Source &source, const Annotations &notes,
                      const std::set<std::string> &foreign) {
  const std::vector<Token> &tokens = notes.tokens;
  for (std::size_t k = 0; k + 1 < tokens.size(); ++k) {
    if (tokens[k].kind != tok::hash || !tokens[k].line_start || tokens[k + 1].line_start) continue;
    std::vector<std::string> words;
    for (std::size_t n = k + 1; n < tokens.size() && !tokens[n].line_start; ++n)
      words.push_back(spelling(source, tokens[n]));
    const std::string directive = words.front();
    words.erase(words.begin());
    if (directive == "ifdef" || directive == "ifndef") {
      words.resize(std::min<std::size_t>(words.size(), 1));
    } else if (directive == "if" || directive.compare(0, 4, "elif") == 0) {
      words.erase(std::remove_if(words.begin(), words.end(),
                                 [](const std::string &w) {
                                   return w == "defined" || w == "(" || w == ")" || w == "!";
                                 }),
                  words.end());
      if (directive != "if" || words.size() != 1) words = {""};
    } else {
      continue;
    }
    const bool number =
        words == std::vector<std::string>{"0"} || words == std::vector<std::string>{"1"};
    if (words.empty() || words[0].empty() || (!number && foreign.count(words[0])))
      source.error(tokens[k].begin,
                   "this condition may differ between compilers; only #if 0 and 1, and "
                   "names that only this file defines are allowed (strict)");
  }
}

}  // namespace

void check_files(Source &source, const Options &options, const Annotations &notes) {
  std::set<std::string> foreign;
  run(options, notes.plain, options.input, arguments_for(options.input),
      std::make_unique<Preprocess>(source, options.strict, foreign));
  if (options.strict) check_conditions(source, notes, foreign);
}

}  // namespace cudascan::gswo
