// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pdf.h"

#include <algorithm>
#include <future>
#include <memory>
#include <qpdf/Pipeline.hh>
#include <qpdf/QPDFObjectHandle.hh>
#include <qpdf/QPDFPageDocumentHelper.hh>
#include <qpdf/QPDFWriter.hh>
#include <qpdf/QUtil.hh>
#include <string>

#include "common/error.h"
#include "jbig2.h"
#include "page_file.h"
#include "pdf_images.h"
#include "pdf_metadata.h"
#include "pdf_text.h"

namespace cudascan::scan {
namespace {

constexpr double kPointsPerInch = 72;
// ISO 19005-2, 6.1.13.
constexpr double kShortestSide = 3, kLongestSide = 14400;

/// The compressed images. JBIG2 is made by several threads, a few pages ahead.
class Images {
 public:
  Images(const std::vector<PdfPage> &pages, const PdfFacts &facts)
      : pages_(pages), facts_(facts), made_(pages.size()) {}

  std::string take(std::size_t index) {
    if (facts_.compression == Compression::g4) return PageFile(pages_[index].page).strip();
    const std::size_t ahead = static_cast<std::size_t>(std::max(facts_.jobs, 1));
    for (; begun_ < std::min(index + ahead, pages_.size()); ++begun_)
      made_[begun_] = std::async(std::launch::async, compress, pages_[begun_].page);
    return made_[index].valid() ? made_[index].get() : compress(pages_[index].page);
  }

 private:
  static std::string compress(const std::filesystem::path &path) {
    const PageFile page(path);
    if (page.packing == Packing::jpeg) return "";
    return encode_jbig2(page.unpack(), static_cast<int>(page.width), static_cast<int>(page.height));
  }

  const std::vector<PdfPage> &pages_;
  const PdfFacts &facts_;
  std::vector<std::future<std::string>> made_;
  std::size_t begun_ = 0;
};

/// Reads an image when the PDF is written.
class ImageData : public QPDFObjectHandle::StreamDataProvider {
 public:
  ImageData(Images &images, std::size_t index) : images_(images), index_(index) {}
  void provideStreamData(QPDFObjGen const &, Pipeline *to) override {
    const std::string bytes = images_.take(index_);
    to->write(reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size());
    to->finish();
  }

 private:
  Images &images_;
  std::size_t index_;
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

class Book {
 public:
  Book(const std::vector<PdfPage> &pages, const PdfFacts &facts)
      : pages_(pages), facts_(facts), images_(pages, facts) {
    pdf_.emptyPDF();
    std::vector<std::string> labels;
    for (std::size_t i = 0; i < pages.size(); ++i) {
      add_page(i);
      labels.push_back(pages[i].label);
    }
    add_metadata(pdf_, facts, labels, archive_);
  }

  void write(NewFile &to) {
    FilePipeline file(to);
    QPDFWriter writer(pdf_);
    writer.setOutputPipeline(&file);
    writer.setStreamDataMode(qpdf_s_preserve);
    writer.setObjectStreamMode(qpdf_o_generate);
    writer.setNewlineBeforeEndstream(true);  // ISO 19005-2, 6.1.7.1
    writer.setExtraHeaderText("% " + facts_.mark + "\n");
    writer.setDeterministicID(true);  // the same pages make the same file
    writer.write();
  }

 private:
  /// A page in black and white.
  QPDFObjectHandle image_of(std::size_t index, const PageFile &size) {
    const std::string width = std::to_string(size.width), height = std::to_string(size.height);
    auto image = QPDFObjectHandle::newStream(&pdf_);
    image.replaceDict(QPDFObjectHandle::parse(
        "<< /Type /XObject /Subtype /Image /ColorSpace /DeviceGray /BitsPerComponent 1 /Width " +
        width + " /Height " + height + " >>"));
    const bool g4 = facts_.compression == Compression::g4;
    image.replaceStreamData(
        std::shared_ptr<QPDFObjectHandle::StreamDataProvider>(
            std::make_shared<ImageData>(images_, index)),
        QPDFObjectHandle::newName(g4 ? "/CCITTFaxDecode" : "/JBIG2Decode"),
        g4 ? QPDFObjectHandle::parse("<< /K -1 /Columns " + width + " /Rows " + height + " >>")
           : QPDFObjectHandle::newNull());
    return image;
  }

  void add_page(std::size_t index) {
    const PageFile size(pages_[index].page);
    const double x = size.width * kPointsPerInch / size.x_dpi,
                 y = size.height * kPointsPerInch / size.y_dpi;
    archive_ = archive_ && std::min(x, y) >= kShortestSide && std::max(x, y) <= kLongestSide;
    auto page = pdf_.makeIndirectObject(
        QPDFObjectHandle::parse("<< /Type /Page /MediaBox [0 0 " + number(x) + " " + number(y) +
                                "] /Resources << /XObject << >> >> >>"));
    auto resources = page.getKey("/Resources");
    auto names = resources.getKey("/XObject");
    const auto &path = pages_[index].page;
    auto scan =
        size.packing == Packing::jpeg ? jpeg_image(pdf_, path, size, 0) : image_of(index, size);
    names.replaceKey("/Scan", scan);
    const std::string paint =
        size.has_next ? paint_layers(pdf_, path, size, scan, names) : "/Scan Do";
    const std::string image = "q " + number(x) + " 0 0 " + number(y) + " 0 0 cm " + paint + " Q\n";
    const auto &text = pages_[index].text;
    page.replaceKey("/Contents",
                    text.empty() ? QPDFObjectHandle::newStream(&pdf_, image)
                                 : flate_stream(pdf_, image + fonts_.add(text, x, y, resources)));
    QPDFPageDocumentHelper(pdf_).addPage(QPDFPageObjectHelper(page), false);
  }

  const std::vector<PdfPage> &pages_;
  const PdfFacts &facts_;
  QPDF pdf_;
  Images images_;
  TextFonts fonts_{pdf_};
  bool archive_ = true;
};

}  // namespace

void write_pdf(const std::vector<PdfPage> &pages, const PdfFacts &facts, NewFile &to) {
  try {
    Book(pages, facts).write(to);
  } catch (const Error &) {
    throw;
  } catch (const std::exception &error) {
    throw Error(error.what());
  }
}

}  // namespace cudascan::scan
