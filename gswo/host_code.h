// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Host code around windows in the stand-alone output. While a `parallel region` is open, images
/// are on the device, so host code that may read or change them has to be announced: before it,
/// gswo::host_reads() or gswo::host_changes() is written.
///
/// Code that only computes numbers and exchanges pointers does not count. Of a function of the file
/// its body decides. A function with windows or regions keeps images up to date itself if it is
/// called in a statement that does nothing else to images. All other code counts as changing them,
/// unless its types say that it can't, or it is a function of the standard library that gets only
/// numbers.
#pragma once
#include "gswo/kernel.h"

namespace cudascan::gswo {

class HostCode {
 public:
  HostCode(const Unit &, const std::vector<std::unique_ptr<Kernel>> &);

  /// Whether all host code of a function can be announced, so that its regions keep images.
  bool is_known(const clang::FunctionDecl *) const;
  /// Functions that have a region, but no windows of their own.
  const std::set<const clang::FunctionDecl *> &regions() const { return regions_; }
  /// The announcements.
  Edits edits(const clang::FunctionDecl *) const;

 private:
  Edits announcements(const clang::FunctionDecl *, bool &known) const;
  void add_members(const clang::RecordDecl &);
  void find_regions();
  void find_called();

  const Unit &unit_;
  std::set<const clang::FunctionDecl *> known_;   ///< with windows or regions
  std::set<const clang::FunctionDecl *> called_;  ///< of these, by one of these
  std::set<const clang::FunctionDecl *> regions_;
  std::set<std::string> pixels_;  ///< types of pixels
};

}  // namespace cudascan::gswo
