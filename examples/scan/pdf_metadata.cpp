// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pdf_metadata.h"

#include <glib.h>
#include <vips/vips.h>

#include <memory>
#include <qpdf/Buffer.hh>
#include <qpdf/Pl_Buffer.hh>
#include <qpdf/Pl_Flate.hh>
#include <string_view>

#include "common/error.h"

namespace cudascan::scan {
namespace {

std::string time_text(std::time_t time, const char *format) {
  std::tm parts{};
  char text[64];
  if (!gmtime_r(&time, &parts) || std::strftime(text, sizeof text, format, &parts) == 0)
    throw Error("a PDF cannot have the time " + std::to_string(time));
  return text;
}

/// Control characters, U+FFFE and U+FFFF are not allowed in XML 1.0, and names of files may be no
/// UTF-8. "?" stands for what is not, as PDFDocEncoding has no U+FFFD.
std::string plain(const std::string &text) {
  const std::unique_ptr<char, decltype(&g_free)> valid(
      g_utf8_make_valid(text.data(), static_cast<gssize>(text.size())), g_free);
  constexpr std::string_view kFirst = "\xEF\xBF\xBD", kLast = "\xEF\xBF\xBF";
  std::string result;
  for (std::string_view rest = valid.get(); !rest.empty();) {
    const std::string_view next = rest.substr(0, kFirst.size());
    const bool replaced = kFirst <= next && next <= kLast;
    const char c = replaced ? '?' : rest.front();
    result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    rest.remove_prefix(replaced ? kFirst.size() : 1);
  }
  return result;
}

/// For XML.
std::string escaped(const std::string &text) {
  const std::unique_ptr<char, decltype(&g_free)> safe(
      g_markup_escape_text(text.data(), static_cast<gssize>(text.size())), g_free);
  return safe.get();
}

/// ISO 16684-1 (XMP) in RDF.
class Xmp {
 public:
  /// `<name>value</name>`, in a list of one if `list` is Alt, Bag or Seq.
  void add(const std::string &name, const std::string &value, const std::string &list = "") {
    if (value.empty()) return;
    text_ += "   <" + name + ">";
    if (list.empty()) {
      text_ += escaped(value);
    } else {
      const std::string language = list == "Alt" ? " xml:lang=\"x-default\"" : "";
      text_ += "<rdf:" + list + "><rdf:li" + language + ">" + escaped(value) +
               "</rdf:li></rdf:" + list + ">";
    }
    text_ += "</" + name + ">\n";
  }
  std::string packet() const {
    return "<?xpacket begin=\"\xEF\xBB\xBF\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n"
           "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">\n"
           " <rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\n"
           "  <rdf:Description rdf:about=\"\"\n"
           "    xmlns:dc=\"http://purl.org/dc/elements/1.1/\"\n"
           "    xmlns:pdf=\"http://ns.adobe.com/pdf/1.3/\"\n"
           "    xmlns:pdfaid=\"http://www.aiim.org/pdfa/ns/id/\"\n"
           "    xmlns:xmp=\"http://ns.adobe.com/xap/1.0/\">\n" +
           text_ + "  </rdf:Description>\n </rdf:RDF>\n</x:xmpmeta>\n<?xpacket end=\"r\"?>\n";
  }

 private:
  std::string text_;
};

/// @return the XMP packet
std::string add_info(QPDF &pdf, const PdfFacts &facts, bool archive) {
  auto info = pdf.makeIndirectObject(QPDFObjectHandle::newDictionary());
  Xmp xmp;
  const auto add = [&](const char *key, const std::string &value, const char *name,
                       const char *list = "") {
    if (value.empty()) return;
    info.replaceKey(key, QPDFObjectHandle::newUnicodeString(plain(value)));
    xmp.add(name, plain(value), list);
  };
  if (archive) {
    xmp.add("pdfaid:part", "2");
    xmp.add("pdfaid:conformance", "B");
  }
  xmp.add("dc:format", "application/pdf");
  add("/Title", facts.title, "dc:title", "Alt");
  add("/Author", facts.author, "dc:creator", "Seq");
  add("/Subject", facts.subject, "dc:description", "Alt");
  add("/Keywords", facts.keywords, "pdf:Keywords");
  xmp.add("dc:language", facts.language, "Bag");
  add("/Creator", facts.program, "xmp:CreatorTool");
  add("/Producer", facts.program, "pdf:Producer");
  const std::string time = time_text(facts.time, "%Y-%m-%dT%H:%M:%SZ");
  for (const char *key : {"/CreationDate", "/ModDate"})
    info.replaceKey(key, QPDFObjectHandle::newString(time_text(facts.time, "D:%Y%m%d%H%M%SZ")));
  for (const char *name : {"xmp:CreateDate", "xmp:ModifyDate", "xmp:MetadataDate"})
    xmp.add(name, time);
  pdf.getTrailer().replaceKey("/Info", info);
  return xmp.packet();
}

/// The profile of libvips, which may be used freely.
QPDFObjectHandle output_intent(QPDF &pdf) {
  VipsBlob *blob = nullptr;
  if (vips_profile_load("srgb", &blob, nullptr) != 0 || !blob)
    throw Error("libvips has no sRGB profile");
  std::size_t size = 0;
  const char *data = static_cast<const char *>(vips_blob_get(blob, &size));
  const std::string bytes(data, size);
  vips_area_unref(reinterpret_cast<VipsArea *>(blob));
  auto profile = flate_stream(pdf, bytes);
  profile.getDict().replaceKey("/N", QPDFObjectHandle::newInteger(3));
  auto intent = pdf.makeIndirectObject(QPDFObjectHandle::parse(
      "<< /Type /OutputIntent /S /GTS_PDFA1 /OutputConditionIdentifier (sRGB IEC61966-2.1) "
      "/Info (sRGB IEC61966-2.1) /RegistryName (http://www.color.org) >>"));
  intent.replaceKey("/DestOutputProfile", profile);
  return intent;
}

QPDFObjectHandle number_tree(const std::vector<std::string> &labels) {
  auto numbers = QPDFObjectHandle::newArray();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    auto label = QPDFObjectHandle::newDictionary();
    label.replaceKey("/P", QPDFObjectHandle::newUnicodeString(plain(labels[i])));
    numbers.appendItem(QPDFObjectHandle::newInteger(static_cast<long long>(i)));
    numbers.appendItem(label);
  }
  auto tree = QPDFObjectHandle::newDictionary();
  tree.replaceKey("/Nums", numbers);
  return tree;
}

}  // namespace

QPDFObjectHandle flate_stream(QPDF &pdf, const std::string &data) {
  Pl_Buffer buffer("compressed");
  Pl_Flate flate("flate", &buffer, Pl_Flate::a_deflate);
  flate.write(reinterpret_cast<const unsigned char *>(data.data()), data.size());
  flate.finish();
  auto stream = QPDFObjectHandle::newStream(&pdf);
  stream.replaceStreamData(buffer.getBufferSharedPointer(),
                           QPDFObjectHandle::newName("/FlateDecode"), QPDFObjectHandle::newNull());
  return stream;
}

void add_metadata(QPDF &pdf, const PdfFacts &facts, const std::vector<std::string> &labels,
                  bool archive) {
  auto root = pdf.getRoot();
  // Not compressed, so that programs that know no PDF can find it.
  auto packet = QPDFObjectHandle::newStream(&pdf, add_info(pdf, facts, archive));
  packet.getDict().replaceKey("/Type", QPDFObjectHandle::newName("/Metadata"));
  packet.getDict().replaceKey("/Subtype", QPDFObjectHandle::newName("/XML"));
  root.replaceKey("/Metadata", packet);
  auto intents = QPDFObjectHandle::newArray();
  intents.appendItem(output_intent(pdf));
  root.replaceKey("/OutputIntents", intents);
  root.replaceKey("/PageLabels", pdf.makeIndirectObject(number_tree(labels)));
  root.replaceKey("/ViewerPreferences", QPDFObjectHandle::parse("<< /DisplayDocTitle true >>"));
  if (!facts.language.empty())
    root.replaceKey("/Lang", QPDFObjectHandle::newString(facts.language));
}

}  // namespace cudascan::scan
