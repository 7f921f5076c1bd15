// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pdf_option.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "ocr.h"

namespace cudascan::scan {
namespace {

bool is_letter_or_digit(char c) {
  return g_ascii_isalnum(c);
}

/// Letters, then more letters and digits after hyphens, at most eight each, as BCP 47 writes them.
bool is_language_tag(std::string_view text) {
  for (bool first = true; first || !text.empty(); first = false) {
    const std::string_view part = text.substr(0, text.find('-'));
    const bool is_part = std::all_of(part.begin(), part.end(), [&](char c) {
      return first ? g_ascii_isalpha(c) : is_letter_or_digit(c);
    });
    constexpr std::size_t kLongest = 8;
    if (!is_part || part.size() < (first ? 2 : 1) || part.size() > kLongest) return false;
    text.remove_prefix(part.size());
    if (text == "-") return false;
    if (!text.empty()) text.remove_prefix(1);
  }
  return true;
}

/// Names as of tesseract's files, with + between them.
bool is_ocr(const std::string &text) {
  return !text.empty() && text.front() != '+' && text.front() != '-' && text.back() != '+' &&
         text.find("++") == std::string::npos && std::all_of(text.begin(), text.end(), [](char c) {
           return is_letter_or_digit(c) || c == '_' || c == '-' || c == '/' || c == '+';
         });
}

}  // namespace

PdfOption::~PdfOption() {
  for (char *text : {title_, author_, subject_, keywords_, language_, ocr_, compression_})
    g_free(text);
}

void PdfOption::add_to(GOptionContext *context) {
  // Texts are taken byte by byte, as file names are, whatever the locale is.
  const GOptionEntry entries[] = {
      {"ocr", 0, 0, G_OPTION_ARG_STRING, &ocr_,
       "Add the text to a PDF, invisible, as tesseract recognises it, for instance eng+deu",
       "LANGUAGES"},
      {"compression", 0, 0, G_OPTION_ARG_STRING, &compression_,
       "Of a PDF: g4, or jbig2 (generic, lossless, smaller); g4", "HOW"},
      {"title", 0, 0, G_OPTION_ARG_FILENAME, &title_,
       "Title of a PDF; the name of the file without .pdf", "TEXT"},
      {"author", 0, 0, G_OPTION_ARG_FILENAME, &author_, "Author of a PDF", "TEXT"},
      {"subject", 0, 0, G_OPTION_ARG_FILENAME, &subject_, "Subject of a PDF", "TEXT"},
      {"keywords", 0, 0, G_OPTION_ARG_FILENAME, &keywords_, "Keywords of a PDF", "TEXT"},
      {"language", 0, 0, G_OPTION_ARG_STRING, &language_,
       "Language of a PDF (BCP 47), for instance en or pt-BR; the first one of --ocr", "TAG"},
      {}};
  g_option_context_add_main_entries(context, entries, nullptr);
}

void PdfOption::take(Options &o) const {
  std::string compression = "g4";
  const struct {
    const char *name, *value;
    std::string &to;
  } texts[] = {{"title", title_, o.pdf.title},
               {"author", author_, o.pdf.author},
               {"subject", subject_, o.pdf.subject},
               {"keywords", keywords_, o.pdf.keywords},
               {"language", language_, o.pdf.language},
               {"ocr", ocr_, o.ocr},
               {"compression", compression_, compression}};
  for (const auto &[name, value, to] : texts) {
    if (!value) continue;
    to = value;
    const std::string given = std::string("--") + name + "=" + value;
    if (o.kind != OutputKind::pdf)
      throw UsageError(given + ": is for PDFs; name an output NAME.pdf");
    constexpr std::size_t kLongest = 1000;
    if (to.empty() || to.size() > kLongest || !g_utf8_validate(value, -1, nullptr) ||
        std::any_of(to.begin(), to.end(), [](char c) { return g_ascii_iscntrl(c); }))
      throw UsageError(given + ": must be a text of one line in UTF-8, of 1 to 1000 bytes");
  }
  if (language_ && !is_language_tag(o.pdf.language))
    throw UsageError("--language=" + o.pdf.language +
                     ": must be a tag of BCP 47, such as en or pt-BR");
  if (ocr_ && !is_ocr(o.ocr))
    throw UsageError("--ocr=" + o.ocr +
                     ": must be languages of tesseract with + between them, such as eng+deu");
  if (compression != "g4" && compression != "jbig2")
    throw UsageError("--compression=" + compression + ": must be g4 or jbig2");
  if (compression == "jbig2") o.pdf.compression = Compression::jbig2;
}

}  // namespace cudascan::scan
