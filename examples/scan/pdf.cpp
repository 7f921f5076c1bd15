// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pdf.h"

#include <fcntl.h>
#include <tiffio.h>

#include <algorithm>
#include <memory>
#include <qpdf/Pipeline.hh>
#include <qpdf/QPDF.hh>
#include <qpdf/QPDFObjectHandle.hh>
#include <qpdf/QPDFPageDocumentHelper.hh>
#include <qpdf/QPDFWriter.hh>
#include <qpdf/QUtil.hh>
#include <string>

#include "common/error.h"

namespace cudascan::scan {
namespace {

constexpr double kPointsPerInch = 72, kUsualDpi = 300;

using Tiff = std::unique_ptr<TIFF, decltype(&TIFFClose)>;

Tiff open(const std::filesystem::path &path) {
  OpenFile file = open_regular(path, O_RDONLY);
  if (!file) throw Error(path.string() + ": the file is gone");
  Tiff tiff(TIFFFdOpen(file.get(), path.c_str(), "rm"), TIFFClose);
  if (!tiff) throw Error(path.string() + ": cannot be read");
  file.release();  // TIFFClose() closes it
  return tiff;
}

struct Facts {
  std::uint32_t width = 0, height = 0;
  float x_dpi = 0, y_dpi = 0;
};

Facts facts_of(const std::filesystem::path &path) {
  const Tiff tiff = open(path);
  Facts facts;
  std::uint16_t compression = 0;
  TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &facts.width);
  TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &facts.height);
  TIFFGetField(tiff.get(), TIFFTAG_COMPRESSION, &compression);
  if (compression != COMPRESSION_CCITTFAX4 || TIFFNumberOfStrips(tiff.get()) != 1)
    throw Error(path.string() + ": not a page written by this program");
  if (!TIFFGetField(tiff.get(), TIFFTAG_XRESOLUTION, &facts.x_dpi) ||
      !TIFFGetField(tiff.get(), TIFFTAG_YRESOLUTION, &facts.y_dpi))
    facts.x_dpi = facts.y_dpi = kUsualDpi;
  return facts;
}

/// Reads the compressed page when the PDF is written.
class Strip : public QPDFObjectHandle::StreamDataProvider {
 public:
  explicit Strip(std::filesystem::path path) : path_(std::move(path)) {}
  void provideStreamData(QPDFObjGen const &, Pipeline *to) override {
    const Tiff tiff = open(path_);
    std::string bytes(TIFFRawStripSize(tiff.get(), 0), '\0');
    const tmsize_t size = static_cast<tmsize_t>(bytes.size());
    if (TIFFReadRawStrip(tiff.get(), 0, bytes.data(), size) != size)
      throw Error(path_.string() + ": cannot be read");
    to->write(reinterpret_cast<unsigned char *>(bytes.data()), bytes.size());
    to->finish();
  }

 private:
  std::filesystem::path path_;
};

/// If QPDFWriter opened the file itself, a full disk could truncate it without an error.
class FilePipeline : public Pipeline {
 public:
  explicit FilePipeline(NewFile &file) : Pipeline("file", nullptr), file_(file) {}
  void write(unsigned char const *data, std::size_t size) override {
    file_.write({reinterpret_cast<const char *>(data), size});
  }
  void finish() override {}

 private:
  NewFile &file_;
};

std::string number(double value) {
  return QUtil::double_to_string(value, 3);
}

void add_page(QPDF &pdf, const std::filesystem::path &path) {
  const Facts facts = facts_of(path);
  auto image = QPDFObjectHandle::newStream(&pdf);
  const std::string width = std::to_string(facts.width), height = std::to_string(facts.height);
  image.replaceDict(QPDFObjectHandle::parse(
      "<< /Type /XObject /Subtype /Image /ColorSpace /DeviceGray /BitsPerComponent 1 /Width " +
      width + " /Height " + height + " >>"));
  image.replaceStreamData(
      std::shared_ptr<QPDFObjectHandle::StreamDataProvider>(std::make_shared<Strip>(path)),
      QPDFObjectHandle::newName("/CCITTFaxDecode"),
      QPDFObjectHandle::parse("<< /K -1 /Columns " + width + " /Rows " + height + " >>"));
  const std::string points_x = number(facts.width * kPointsPerInch / facts.x_dpi),
                    points_y = number(facts.height * kPointsPerInch / facts.y_dpi);
  auto page = pdf.makeIndirectObject(
      QPDFObjectHandle::parse("<< /Type /Page /MediaBox [0 0 " + points_x + " " + points_y +
                              "] /Resources << /XObject << >> >> >>"));
  page.getKey("/Resources").getKey("/XObject").replaceKey("/Scan", image);
  page.replaceKey("/Contents",
                  QPDFObjectHandle::newStream(
                      &pdf, "q " + points_x + " 0 0 " + points_y + " 0 0 cm /Scan Do Q\n"));
  QPDFPageDocumentHelper(pdf).addPage(QPDFPageObjectHelper(page), false);
}

}  // namespace

void write_pdf(const std::vector<std::filesystem::path> &pages, NewFile &to) {
  try {
    QPDF pdf;
    pdf.emptyPDF();
    for (const auto &path : pages) add_page(pdf, path);
    FilePipeline file(to);
    QPDFWriter writer(pdf);
    writer.setOutputPipeline(&file);
    writer.setStreamDataMode(qpdf_s_preserve);
    writer.setObjectStreamMode(qpdf_o_generate);
    writer.setDeterministicID(true);  // the same pages make the same file
    writer.write();
  } catch (const std::exception &error) {
    throw Error(error.what());
  }
}

}  // namespace cudascan::scan
