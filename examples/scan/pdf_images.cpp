// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pdf_images.h"

#include <cmath>
#include <memory>
#include <qpdf/Pipeline.hh>
#include <qpdf/QUtil.hh>

namespace cudascan::scan {
namespace {

/// Reads the compressed image when the PDF is written.
class Jpeg : public QPDFObjectHandle::StreamDataProvider {
 public:
  Jpeg(std::filesystem::path path, int image) : path_(std::move(path)), image_(image) {}
  void provideStreamData(QPDFObjGen const &, Pipeline *to) override {
    std::string bytes = PageFile(path_, image_).strip();
    to->write(reinterpret_cast<unsigned char *>(bytes.data()), bytes.size());
    to->finish();
  }

 private:
  std::filesystem::path path_;
  int image_;
};

QPDFObjectHandle colours_of(QPDF &pdf, const PageFile &facts) {
  const bool colour = facts.samples == 3;
  const std::string device = colour ? "/DeviceRGB" : "/DeviceGray";
  if (facts.profile.empty()) return QPDFObjectHandle::newName(device);
  auto profile = QPDFObjectHandle::newStream(&pdf, facts.profile);
  profile.getDict().replaceKey("/N", QPDFObjectHandle::newInteger(facts.samples));
  profile.getDict().replaceKey("/Alternate", QPDFObjectHandle::newName(device));
  auto array = QPDFObjectHandle::newArray();
  array.appendItem(QPDFObjectHandle::newName("/ICCBased"));
  array.appendItem(profile);
  return array;
}

}  // namespace

QPDFObjectHandle jpeg_image(QPDF &pdf, const std::filesystem::path &path, const PageFile &facts,
                            int image) {
  auto jpeg = QPDFObjectHandle::newStream(&pdf);
  jpeg.replaceDict(QPDFObjectHandle::parse(
      "<< /Type /XObject /Subtype /Image /BitsPerComponent 8 /Width " +
      std::to_string(facts.width) + " /Height " + std::to_string(facts.height) + " >>"));
  jpeg.getDict().replaceKey("/ColorSpace", colours_of(pdf, facts));
  jpeg.replaceStreamData(
      std::shared_ptr<QPDFObjectHandle::StreamDataProvider>(std::make_shared<Jpeg>(path, image)),
      QPDFObjectHandle::newName("/DCTDecode"), QPDFObjectHandle::newNull());
  return jpeg;
}

std::string paint_layers(QPDF &pdf, const std::filesystem::path &path, const PageFile &facts,
                         QPDFObjectHandle text, QPDFObjectHandle names) {
  const PageFile under(path, 1);
  names.replaceKey("/Under", jpeg_image(pdf, path, under, 1));
  // Samples that are 0 are painted: those are black.
  QPDFObjectHandle mask = text.getDict();
  mask.removeKey("/ColorSpace");
  mask.replaceKey("/ImageMask", QPDFObjectHandle::newBool(true));
  // The last pixels of the image under the text may reach beyond the page.
  const double by = std::round(facts.x_dpi / under.x_dpi);
  const double across = by * under.width / facts.width, down = by * under.height / facts.height;
  const auto number = [](double value) { return QUtil::double_to_string(value, 6); };
  return "q " + number(across) + " 0 0 " + number(down) + " 0 " + number(1 - down) +
         " cm /Under Do Q 0 g /Scan Do";
}

}  // namespace cudascan::scan
