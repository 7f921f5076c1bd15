// SPDX-License-Identifier: LGPL-2.1-or-later
// Damaged sources: gswo-cc gives a filter or a message, and never crashes or hangs. GSWO_FUZZ in the
// environment sets how many are tried.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "tool.h"

namespace cudascan::gswo::test {
namespace {

class Damage {
 public:
  explicit Damage(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t n) { return n ? random_() % n : 0; }

  std::string operator()(const std::string &text, const std::string &other) {
    std::vector<std::string> tokens;
    for (std::size_t k = 0; k < text.size(); ++k)
      if (k && kind(text[k]) == kind(text[k - 1]) && kind(text[k]) != 2)
        tokens.back() += text[k];
      else
        tokens.push_back(text.substr(k, 1));
    for (std::size_t times = 1 + below(4); times; --times) change(tokens, other);
    std::string result;
    for (const std::string &t : tokens) result += t;
    if (below(20) == 0) result.resize(below(result.size()));
    if (below(20) == 0 && !result.empty())
      result[below(result.size())] = static_cast<char>(random_());
    return result;
  }

 private:
  /// 0 in words, 1 between them, 2 for anything else.
  static int kind(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return std::isalnum(byte) || c == '_' ? 0 : std::isspace(byte) ? 1 : 2;
  }

  void change(std::vector<std::string> &tokens, const std::string &other) {
    static const std::vector<std::string> kWords{"{",
                                                 "}",
                                                 "(",
                                                 ")",
                                                 "[",
                                                 "]",
                                                 ";",
                                                 "*",
                                                 "&",
                                                 ",",
                                                 "<",
                                                 "=",
                                                 "++",
                                                 "-",
                                                 "0",
                                                 "1",
                                                 "-1",
                                                 "2147483647",
                                                 "99999999999999999999",
                                                 "int",
                                                 "float",
                                                 "for",
                                                 "if",
                                                 "return",
                                                 "break",
                                                 "continue",
                                                 "static",
                                                 "\n#pragma parallel\n",
                                                 "\n#pragma for nest(2)\n",
                                                 "\n#pragma single initialisation {\n",
                                                 "\n#pragma single transfer\n",
                                                 "\n#if 0\n",
                                                 "\n#endif\n",
                                                 "i",
                                                 "j",
                                                 "v",
                                                 "sizeof",
                                                 "goto",
                                                 "do",
                                                 "while",
                                                 "template <class T>",
                                                 "struct S {",
                                                 "auto",
                                                 "[&]{",
                                                 "0.5",
                                                 "\"",
                                                 "'",
                                                 "/*",
                                                 "//",
                                                 "\\\n",
                                                 "%",
                                                 "/",
                                                 "0 ? 1 :",
                                                 "const",
                                                 "volatile",
                                                 "__int128",
                                                 "decltype(",
                                                 "operator",
                                                 "this",
                                                 "..."};
    if (tokens.empty()) return;
    const std::size_t a = below(tokens.size()), b = below(tokens.size());
    switch (below(8)) {
      case 0:
        tokens.erase(tokens.begin() + static_cast<long>(a));
        break;
      case 1:
        tokens.insert(tokens.begin() + static_cast<long>(a), tokens[b]);
        break;
      case 2:
        std::swap(tokens[a], tokens[b]);
        break;
      case 3:
        tokens[a] = tokens[b];
        break;
      case 4:
      case 5:
        tokens.insert(tokens.begin() + static_cast<long>(a), kWords[below(kWords.size())]);
        break;
      case 6:
        tokens[a] = kWords[below(kWords.size())];
        break;
      default: {
        const std::size_t from = below(other.size());
        tokens.insert(tokens.begin() + static_cast<long>(a), other.substr(from, below(60)));
      }
    }
  }

  std::mt19937 random_;
};

TEST(GswoFuzz, DamagedSourcesGiveAFilterOrAMessage) {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(GSWO_SOURCES))
    names.push_back(entry.path());
  std::sort(names.begin(), names.end());
  ASSERT_FALSE(names.empty());
  const char *setting = std::getenv("GSWO_FUZZ");
  const int tries = setting ? std::atoi(setting) : 200;
  const Folder folder;
  int filters = 0;
  for (int k = 0; k < tries; ++k) {
    Damage damage(static_cast<unsigned>(k));
    const std::string &name = names[damage.below(names.size())];
    const std::string text = damage(read(name), read(names[damage.below(names.size())]));
    const std::string file =
        folder / ("damaged" + std::filesystem::path(name).extension().string());
    write(file, text);
    std::vector<std::string> options{file, "--set", "win=3", "--set", "r=1"};
    if (damage.below(3) == 0) options.insert(options.end(), {"--emit", "standalone"});
    if (damage.below(5) == 0) options.push_back("--strict");
    const Outcome outcome = translate(options);
    const bool good = outcome.status == 0 && !outcome.output.empty();
    const bool refused = outcome.status == 1 && outcome.errors.find("error: ") != std::string::npos;
    // The process that translates is guarded by another one, which says so if it crashed; sanitizers end
    // it with a message.
    bool crashed = false;
    for (const char *words : {"the translator ", "runtime error: ", "Sanitizer"})
      crashed |= outcome.errors.find(words) != std::string::npos;
    EXPECT_TRUE((good || refused) && !crashed && !outcome.timeout && !outcome.signal)
        << "seed " << k << ", " << name << ": status " << outcome.status << ", signal "
        << outcome.signal << "\n"
        << outcome.errors << "\n"
        << text;
    filters += good;
  }
  if (tries >= 100) {
    EXPECT_GT(filters, tries / 20) << "the damage is so great that little is tested";
    EXPECT_LT(filters, tries * 19 / 20);
  }
}

}  // namespace
}  // namespace cudascan::gswo::test
