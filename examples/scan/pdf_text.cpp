// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pdf_text.h"

#include <fcntl.h>

#include <cmath>
#include <memory>
#include <qpdf/Buffer.hh>
#include <qpdf/QPDFPageDocumentHelper.hh>
#include <qpdf/QUtil.hh>

#include "common/error.h"
#include "open_file.h"

namespace cudascan::scan {
namespace {

std::string read(const std::filesystem::path &path) {
  OpenFile file = open_regular(path, O_RDONLY);
  if (!file) throw Error(path.string() + ": the file is gone");
  return file.read();
}

QPDFObjectHandle as_object(QPDF &pdf, QPDFObjectHandle value) {
  return value.isIndirect() ? value : pdf.makeIndirectObject(value);
}

}  // namespace

std::string TextFonts::add(const std::filesystem::path &file, double width, double height,
                           QPDFObjectHandle resources) {
  const std::string bytes = read(file);
  QPDF text;
  text.setSuppressWarnings(true);
  text.setImmediateCopyFrom(true);  // the fonts outlive it
  text.processMemoryFile(file.c_str(), bytes.data(), bytes.size());
  auto pages = QPDFPageDocumentHelper(text).getAllPages();
  if (pages.size() != 1) throw Error(file.string() + ": not the text of one page");
  QPDFPageObjectHelper &page = pages[0];
  auto fonts = page.getObjectHandle().getKey("/Resources").getKey("/Font");
  auto used = QPDFObjectHandle::newDictionary();
  if (fonts.isDictionary())
    for (const std::string &name : fonts.getKeys()) {
      if (!fonts_.hasKey(name))
        fonts_.replaceKey(name, pdf_.copyForeignObject(as_object(text, fonts.getKey(name))));
      used.replaceKey(name, fonts_.getKey(name));
    }
  resources.replaceKey("/Font", used);
  const auto box = page.getMediaBox().getArrayAsRectangle();
  const double x = width / (box.urx - box.llx), y = height / (box.ury - box.lly);
  if (!std::isfinite(x) || !std::isfinite(y)) throw Error(file.string() + ": the page is empty");
  std::string contents;
  for (auto &stream : page.getPageContents()) {
    const auto data = stream.getStreamData();
    contents.append(reinterpret_cast<const char *>(data->getBuffer()), data->getSize());
    contents += '\n';
  }
  const auto number = [](double value) { return QUtil::double_to_string(value, 6); };
  return "q " + number(x) + " 0 0 " + number(y) + " 0 0 cm\n" + contents + "Q\n";
}

}  // namespace cudascan::scan
