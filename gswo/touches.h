// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What host code may do to the pixels of images.
#pragma once
#include <clang/AST/Decl.h>

#include <map>
#include <set>
#include <string>

#include "gswo/unit.h"

namespace cudascan::gswo {

enum class Touch { nothing, reads, changes };

class Touches {
 public:
  /// @param pixels  types of pixels, as pixel_name() names them
  /// @param parallel  functions with windows, which care for images themselves
  Touches(const Unit &unit, const std::set<std::string> &pixels,
          const std::set<const clang::FunctionDecl *> &parallel)
      : unit_(unit), pixels_(pixels), parallel_(parallel) {}

  Touch of(const clang::Stmt *);
  Touch of(const clang::FunctionDecl *);
  /// Whether it calls functions with windows.
  bool calls_parallel(const clang::Stmt *) const;
  /// Whether a value of the type may be a pixel, or have pixels in it.
  bool may_be_pixel(clang::QualType) const;

 private:
  const Unit &unit_;
  const std::set<std::string> &pixels_;
  const std::set<const clang::FunctionDecl *> &parallel_;
  std::map<const clang::FunctionDecl *, Touch> done_;
};

/// A type's name without its sign, as signed and unsigned numbers may share memory.
std::string pixel_name(std::string type);

}  // namespace cudascan::gswo
