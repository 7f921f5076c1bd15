// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pdf_pages.h"

#include <algorithm>
#include <cmath>
#include <qpdf/QPDF.hh>
#include <qpdf/QPDFObjectHandle.hh>
#include <qpdf/QPDFPageDocumentHelper.hh>

#include "common/error.h"

namespace cudascan::scan {
namespace {

constexpr double kPointsPerInch = 72, kLeastDpi = 72, kMostDpi = 1200;

/// The resolution of an image that fills the page: both directions must agree. @return 0 = unknown
double dpi_of(QPDFPageObjectHelper &page) {
  auto images = page.getImages();
  if (images.size() != 1) return 0;
  QPDFObjectHandle box = page.getCropBox(), dictionary = images.begin()->second.getDict();
  if (!box.isRectangle()) return 0;
  const auto corners = box.getArrayAsRectangle();
  const double width = std::fabs(corners.urx - corners.llx) / kPointsPerInch,
               height = std::fabs(corners.ury - corners.lly) / kPointsPerInch;
  const auto pixels = [&](const char *key) {
    QPDFObjectHandle value = dictionary.getKey(key);
    return value.isInteger() ? static_cast<double>(value.getIntValue()) : 0;
  };
  if (width <= 0 || height <= 0) return 0;
  const double x = pixels("/Width") / width, y = pixels("/Height") / height;
  constexpr double kSame = 0.01;
  if (std::fabs(x - y) > kSame * std::max(x, y) || x < kLeastDpi || x > kMostDpi) return 0;
  return (x + y) / 2;
}

}  // namespace

void read_pdf_header(Input &input, Header &header) {
  try {
    QPDF pdf;
    pdf.setSuppressWarnings(true);
    const std::string_view bytes = input.memory();
    if (bytes.data() != nullptr)
      pdf.processMemoryFile(input.name().c_str(), bytes.data(), bytes.size());
    else
      pdf.processFile(input.name().c_str());
    for (QPDFPageObjectHelper &page : QPDFPageDocumentHelper(pdf).getAllPages())
      header.pages.push_back({.dpi = dpi_of(page)});
  } catch (const std::exception &error) {
    const std::string text = error.what();
    throw Error(text.starts_with(input.name()) ? text : input.name() + ": " + text);
  }
}

}  // namespace cudascan::scan
