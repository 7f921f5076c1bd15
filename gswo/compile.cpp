// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gswo/compile.h"

#include <clang/Tooling/Tooling.h>

namespace cudascan::gswo {

namespace {

/// Names and texts of the headers that generated code includes, so that it compiles on any machine.
const clang::tooling::FileContentMappings kHeaders{
#include "kernels/gswo/gswo_headers.inc"
};

std::vector<std::string> with_folders(const Options &options, std::vector<std::string> arguments) {
  arguments.push_back("-resource-dir=" GSWO_RESOURCE_DIR);
  arguments.insert(arguments.end(), options.compiler_arguments.begin(),
                   options.compiler_arguments.end());
  return arguments;
}

}  // namespace

std::vector<std::string> arguments_for(const std::string &name) {
  const bool c = name.size() > 2 && name.compare(name.size() - 2, 2, ".c") == 0;
  return {c ? "-xc" : "-xc++", c ? "-std=gnu11" : "-std=gnu++20", "-Wno-everything",
          "-ferror-limit=20"};
}

std::unique_ptr<clang::ASTUnit> parse(const Options &options, const std::string &text,
                                      const std::string &name,
                                      const std::vector<std::string> &arguments,
                                      clang::DiagnosticConsumer *messages) {
  using namespace clang::tooling;
  FileContentMappings files;
  for (const auto &[header, contents] : kHeaders)
    files.emplace_back("/gswo-runtime/" + header, contents);
  return buildASTFromCodeWithArgs(text, with_folders(options, arguments), name, "gswo-cc",
                                  std::make_shared<clang::PCHContainerOperations>(),
                                  getClangStripDependencyFileAdjuster(), files, messages);
}

void run(const Options &options, const std::string &text, const std::string &name,
         const std::vector<std::string> &arguments, std::unique_ptr<clang::FrontendAction> action) {
  clang::tooling::runToolOnCodeWithArgs(std::move(action), text, with_folders(options, arguments),
                                        name, "gswo-cc");
}

}  // namespace cudascan::gswo
