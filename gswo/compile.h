// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Runs Clang.
#pragma once
#include <clang/Basic/Diagnostic.h>
#include <clang/Frontend/ASTUnit.h>
#include <clang/Frontend/FrontendAction.h>

#include <memory>
#include <string>
#include <vector>

#include "gswo/options.h"

namespace cudascan::gswo {

/// Parses `text`, which is called `name`. Messages go to `messages`, or to standard error.
/// @return nullptr, or a unit that may have errors
std::unique_ptr<clang::ASTUnit> parse(const Options &, const std::string &text,
                                      const std::string &name,
                                      const std::vector<std::string> &arguments,
                                      clang::DiagnosticConsumer *messages);

/// Runs an action of Clang on a text.
void run(const Options &, const std::string &text, const std::string &name,
         const std::vector<std::string> &arguments, std::unique_ptr<clang::FrontendAction>);

/// The compiler arguments for the user's file; its name says whether it is C.
std::vector<std::string> arguments_for(const std::string &name);

}  // namespace cudascan::gswo
