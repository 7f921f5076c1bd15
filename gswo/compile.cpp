// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gswo/compile.h"

#include <clang/Tooling/Tooling.h>

namespace cudascan::gswo {

namespace {

/// Name and text of what generated code includes, so that it is compiled wherever this program runs.
const clang::tooling::FileContentMappings kHeaders{
#include "kernels/gswo_headers.inc"
};

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
  FileContentMappings files;
  for (const auto &[header, contents] : kHeaders)
    files.emplace_back("/gswo-runtime/" + header, contents);
  return buildASTFromCodeWithArgs(text, all, name, "gswo-cc",
                                  std::make_shared<clang::PCHContainerOperations>(),
                                  getClangStripDependencyFileAdjuster(), files, messages);
}

}  // namespace cudascan::gswo
