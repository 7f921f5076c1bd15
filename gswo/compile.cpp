// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gswo/compile.h"

#include <clang/Tooling/Tooling.h>

namespace cudascan::gswo {

namespace {

/// kernels/gswo/gswo_rt.h, so that the generated text is compiled wherever this program runs.
const char kRuntime[] =
#include "gswo_rt.inc"
    ;

}  // namespace

bool is_c(const std::string &name) {
  return name.size() > 2 && name.compare(name.size() - 2, 2, ".c") == 0;
}

std::unique_ptr<clang::ASTUnit> parse(const Options &options, const std::string &text,
                                      const std::string &name,
                                      const std::vector<std::string> &arguments,
                                      clang::DiagnosticConsumer *messages) {
  using namespace clang::tooling;
  std::vector<std::string> all = arguments;
  all.push_back("-resource-dir=" GSWO_RESOURCE_DIR);
  all.insert(all.end(), options.compiler_arguments.begin(), options.compiler_arguments.end());
  const FileContentMappings files{{"/gswo-runtime/gswo_rt.h", kRuntime}};
  return buildASTFromCodeWithArgs(text, all, name, "gswo-cc",
                                  std::make_shared<clang::PCHContainerOperations>(),
                                  getClangStripDependencyFileAdjuster(), files, messages);
}

}  // namespace cudascan::gswo
