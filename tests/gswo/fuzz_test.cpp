// SPDX-License-Identifier: LGPL-2.1-or-later
// Damaged sources: gswo-cc gives a compilable filter or a message, and never crashes or hangs. The
// environment variable GSWO_FUZZ sets how many sources of each kind are tried, GSWO_FUZZ_FIRST the
// first seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "damage.h"
#include "tool.h"

namespace cudascan::gswo::test {
namespace {

enum class Kind { heavy, mild };

int number_in(const char *variable, int otherwise) {
  const char *setting = std::getenv(variable);
  return setting ? std::atoi(setting) : otherwise;
}

class Fuzz : public testing::Test {
 protected:
  Fuzz() {
    for (const auto &entry : std::filesystem::directory_iterator(GSWO_SOURCES))
      names_.push_back(entry.path());
    for (const auto &entry : std::filesystem::directory_iterator(GSWO_EXAMPLES))
      if (entry.path().extension() == ".cpp") names_.push_back(entry.path());
    std::sort(names_.begin(), names_.end());
  }

  /// @param compiled  one of this many filters is compiled
  /// @return the number of translated sources
  int run(Kind kind, int compiled) {
    int filters = 0, looked_at = 0;
    for (int k = first_; k < first_ + tries_; ++k) {
      Damage damage(static_cast<unsigned>(k));
      const std::string &name = names_[damage.below(names_.size())];
      text_ = read(name);
      text_ = kind == Kind::mild ? damage.mild(text_)
                                 : damage.heavy(text_, read(names_[damage.below(names_.size())]));
      about_ = "seed " + std::to_string(k) + ", " + name;
      const std::string file =
          folder_ / ("damaged" + std::filesystem::path(name).extension().string());
      write(file, text_);
      std::vector<std::string> options{file, "--set", "win=3", "--set", "r=1"};
      for (const char *more : {"window_width=3", "window_height=3", "rank=4", "radius=1"})
        options.insert(options.end(), {"--set", more});
      const bool standalone = damage.below(3) == 0;
      if (standalone) options.insert(options.end(), {"--emit", "standalone"});
      if (damage.below(5) == 0) options.push_back("--strict");
      if (!translates(options)) continue;
      if (!standalone && filters % compiled == 0) {
        compile(file, name);
        ++looked_at;
      }
      ++filters;
    }
    RecordProperty("translated", filters);
    RecordProperty("compiled", looked_at);
    std::cout << filters << " of " << tries_ << " translated, " << looked_at << " compiled\n";
    return filters;
  }

  const int tries_ = number_in("GSWO_FUZZ", 100), first_ = number_in("GSWO_FUZZ_FIRST", 0);

 private:
  bool translates(const std::vector<std::string> &options) {
    const Outcome outcome = translate(options);
    const bool good = outcome.status == 0 && !outcome.output.empty();
    const bool refused = outcome.status == 1 && outcome.errors.find("error: ") != std::string::npos;
    // A second process guards the translating process and reports if it crashed. Sanitizers end it
    // with a message.
    bool crashed = false;
    for (const char *words : {"the translator ", "runtime error: ", "Sanitizer"})
      crashed |= outcome.errors.find(words) != std::string::npos;
    EXPECT_TRUE((good || refused) && !crashed && !outcome.timeout && !outcome.signal)
        << about_ << ": status " << outcome.status << ", signal " << outcome.signal << "\n"
        << outcome.errors << "\n"
        << text_;
    generated_ = outcome.output;
    return good;
  }

  /// Both branches of the output must be C++. An error in the user's lines that gswo-cc's own
  /// compiler does not find is not counted.
  void compile(const std::string &file, const std::string &name) {
    const std::string output = folder_ / "generated.cu";
    write(output, generated_);
    for (const char *header : {"", "cuda_emulation.h"}) {
      std::istringstream compiler(GSWO_CXX);
      std::vector<std::string> command;
      for (std::string word; compiler >> word;) command.push_back(word);
      command.insert(command.end(), {"-std=c++20", "-fsyntax-only", "-w", "-I" GSWO_RUNTIME,
                                     "-I" GSWO_TESTS, "-I" + folder_of(name), "-x", "c++"});
      if (*header) command.insert(command.end(), {"-include", header});
      command.push_back(output);
      const Outcome outcome = test::run(command);
      if (outcome.status == 0) continue;
      std::istringstream lines(outcome.errors);
      bool elsewhere = outcome.errors.find("error: ") == std::string::npos;
      for (std::string line; std::getline(lines, line);)
        elsewhere |= line.find("error: ") != std::string::npos && line.rfind(file + ":", 0) != 0;
      EXPECT_FALSE(elsewhere) << about_ << ", " << header << "\n"
                              << outcome.errors << "\n"
                              << text_;
    }
  }

  static std::string folder_of(const std::string &path) {
    return std::filesystem::path(path).parent_path();
  }

  std::vector<std::string> names_;
  const Folder folder_;
  std::string text_, about_, generated_;
};

using GswoFuzz = Fuzz;

TEST_F(GswoFuzz, DamagedSourcesGiveAFilterOrAMessage) {
  const int filters = run(Kind::heavy, 4);
  if (tries_ < 100) return;
  EXPECT_GT(filters, tries_ / 50);
  EXPECT_LT(filters, tries_ / 2);
}

TEST_F(GswoFuzz, ChangedSourcesGiveAFilterOrAMessage) {
  const int filters = run(Kind::mild, 4);
  if (tries_ < 100) return;
  EXPECT_GT(filters, tries_ / 4) << "the changes are so great that little is tested";
  EXPECT_LT(filters, tries_ * 3 / 4) << "the changes are so small that little is tested";
}

}  // namespace
}  // namespace cudascan::gswo::test
