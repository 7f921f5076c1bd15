// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pdf_run.h"

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "ocr.h"

namespace cudascan::scan {

PdfFacts facts_of(const Options &options, const std::string &version, int jobs) {
  PdfFacts facts = options.pdf;
  if (options.kind != OutputKind::pdf) return facts;
  if (!options.ocr.empty()) check_languages(options.ocr);
  if (facts.title.empty()) facts.title = std::filesystem::path(options.output).stem();
  if (facts.language.empty()) facts.language = language_tag(options.ocr);
  facts.program = "cudascan-scan " + version;
  facts.texts = !options.ocr.empty();
  facts.jobs = jobs;
  return facts;
}

// https://reproducible-builds.org/specs/source-date-epoch/
std::time_t time_of(long long newest_ns) {
  if (const char *given = std::getenv("SOURCE_DATE_EPOCH")) {
    const std::string_view text = given;
    constexpr std::time_t kMost = 253402300799;  // the end of the year 9999
    std::time_t seconds = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error != std::errc() || end != text.data() + text.size() || seconds < 0 || seconds > kMost)
      throw Error("SOURCE_DATE_EPOCH=" + std::string(text) +
                  ": must be a number of seconds since 1970; correct or unset it");
    return seconds;
  }
  constexpr long long kNsPerSecond = 1'000'000'000;
  return newest_ns > 0 ? static_cast<std::time_t>(newest_ns / kNsPerSecond) : std::time(nullptr);
}

}  // namespace cudascan::scan
