// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pdf.h"

#include <memory>
#include <qpdf/Pipeline.hh>
#include <qpdf/QPDF.hh>
#include <qpdf/QPDFObjectHandle.hh>
#include <qpdf/QPDFPageDocumentHelper.hh>
#include <qpdf/QPDFWriter.hh>
#include <qpdf/QUtil.hh>
#include <string>

#include "common/error.h"
#include "page_file.h"

namespace cudascan::scan {
namespace {

constexpr double kPointsPerInch = 72;

/// Reads the compressed page when the PDF is written.
class Strip : public QPDFObjectHandle::StreamDataProvider {
 public:
  explicit Strip(std::filesystem::path path) : path_(std::move(path)) {}
  void provideStreamData(QPDFObjGen const &, Pipeline *to) override {
    std::string bytes = PageFile(path_).strip();
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
  const PageFile facts(path);
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

void write_pdf(const std::vector<std::filesystem::path> &pages, const std::string &mark,
               NewFile &to) {
  try {
    QPDF pdf;
    pdf.emptyPDF();
    for (const auto &path : pages) add_page(pdf, path);
    FilePipeline file(to);
    QPDFWriter writer(pdf);
    writer.setOutputPipeline(&file);
    writer.setStreamDataMode(qpdf_s_preserve);
    writer.setObjectStreamMode(qpdf_o_generate);
    writer.setExtraHeaderText("% " + mark + "\n");
    writer.setDeterministicID(true);  // the same pages make the same file
    writer.write();
  } catch (const Error &) {
    throw;
  } catch (const std::exception &error) {
    throw Error(error.what());
  }
}

}  // namespace cudascan::scan
