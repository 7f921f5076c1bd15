// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ocr.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "common/error.h"
#include "run_program.h"

namespace cudascan::scan {
namespace {

constexpr const char *kProgram = "tesseract";

/// ISO 639-2 and names of tesseract; the tags are ISO 639-1 where a language has one, as BCP 47
/// asks for. Fraktur is a script of several languages.
constexpr struct {
  const char *name, *tag;
} kTags[] = {{"ara", "ar"},      {"bul", "bg"}, {"cat", "ca"},          {"ces", "cs"},
             {"cym", "cy"},      {"dan", "da"}, {"deu", "de"},          {"ell", "el"},
             {"eng", "en"},      {"epo", "eo"}, {"est", "et"},          {"eus", "eu"},
             {"fas", "fa"},      {"fin", "fi"}, {"fra", "fr"},          {"gle", "ga"},
             {"glg", "gl"},      {"heb", "he"}, {"hin", "hi"},          {"hrv", "hr"},
             {"hun", "hu"},      {"ind", "id"}, {"isl", "is"},          {"ita", "it"},
             {"jpn", "ja"},      {"kor", "ko"}, {"lat", "la"},          {"lav", "lv"},
             {"lit", "lt"},      {"nld", "nl"}, {"nor", "no"},          {"pol", "pl"},
             {"por", "pt"},      {"ron", "ro"}, {"rus", "ru"},          {"slk", "sk"},
             {"slv", "sl"},      {"spa", "es"}, {"sqi", "sq"},          {"srp", "sr"},
             {"swe", "sv"},      {"tha", "th"}, {"tur", "tr"},          {"ukr", "uk"},
             {"vie", "vi"},      {"yid", "yi"}, {"chi_sim", "zh-Hans"}, {"chi_tra", "zh-Hant"},
             {"deu_latf", "de"}, {"frk", "de"}};

std::string last_line(const std::string &text) {
  std::istringstream lines(text);
  std::string last;
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) last = line;
  return last;
}

[[noreturn]] void fail(const Outcome &outcome) {
  const std::string said = last_line(outcome.errors);
  throw Error(std::string(kProgram) + ": " + outcome.problem + (said.empty() ? "" : ": " + said));
}

/// The names that tesseract lists after a line about them.
std::set<std::string> installed_languages() {
  constexpr double kSeconds = 60;
  const Outcome outcome = run_program({kProgram, "--list-langs"}, "", {}, kSeconds);
  if (!outcome.problem.empty()) fail(outcome);
  std::istringstream lines(outcome.output);
  std::set<std::string> names;
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) names.insert(line);
  return names;
}

}  // namespace

void check_languages(const std::string &languages) {
  std::set<std::string> installed;
  try {
    installed = installed_languages();
  } catch (const Error &error) {
    throw Error("--ocr=" + languages + ": " + error.what() +
                "; install it (package tesseract-ocr), or leave out --ocr");
  }
  std::istringstream names(languages);
  for (std::string name; std::getline(names, name, '+');) {
    if (installed.contains(name)) continue;
    std::string has;
    for (const std::string &other : installed) has += (has.empty() ? "" : ", ") + other;
    std::string package = name;
    std::replace(package.begin(), package.end(), '_', '-');
    throw Error("--ocr=" + languages + ": tesseract has no language " + name + "; it has " +
                (has.empty() ? "none" : has) + "; install it (package tesseract-ocr-" + package +
                ")");
  }
}

std::string language_tag(const std::string &languages) {
  const std::string first = languages.substr(0, languages.find('+'));
  for (const auto &known : kTags)
    if (first == known.name) return known.tag;
  return "";
}

std::string read_text(const std::string &page, const Resolution &resolution,
                      const std::string &languages) {
  // Each page has one thread, as there are as many pages at a time as cores.
  std::vector<std::string> words = {kProgram, "-", "-", "-l", languages, "-c", "textonly_pdf=1"};
  // What tesseract accepts. The text is scaled to the page, whatever is said here.
  constexpr double kLeast = 70, kMost = 2400;
  if (resolution.y > 0) {
    words.emplace_back("--dpi");
    words.push_back(std::to_string(std::lround(std::clamp(resolution.y, kLeast, kMost))));
  }
  words.emplace_back("pdf");
  constexpr double kSeconds = 600;
  const Outcome outcome = run_program(words, page, {"OMP_THREAD_LIMIT=1"}, kSeconds);
  if (!outcome.problem.empty()) fail(outcome);
  constexpr std::size_t kEnd = 8;  // "%%EOF" and ends of lines
  if (!outcome.output.starts_with("%PDF-") ||
      outcome.output.find("%%EOF", outcome.output.size() - kEnd) == std::string::npos)
    throw Error("tesseract has written no PDF");
  return outcome.output;
}

}  // namespace cudascan::scan
