// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <filesystem>
#include <qpdf/QPDF.hh>
#include <string>

namespace cudascan::scan {

/// Puts the invisible text of pages into a PDF. The fonts are copied from the first text that has
/// them: those of read_text() are the same in all.
class TextFonts {
 public:
  explicit TextFonts(QPDF &pdf) : pdf_(pdf) {}
  /// @param file       a PDF of one page, from read_text()
  /// @param width      of the page on which it is put, in points
  /// @param resources  of that page; gets the fonts
  /// @return operators for the contents of that page
  /// @throws Error when the file cannot be read
  std::string add(const std::filesystem::path &file, double width, double height,
                  QPDFObjectHandle resources);

 private:
  QPDF &pdf_;
  QPDFObjectHandle fonts_ = QPDFObjectHandle::newDictionary();
};

}  // namespace cudascan::scan
