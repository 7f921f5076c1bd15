// SPDX-License-Identifier: LGPL-2.1-or-later
#include "serve.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <optional>

#include "kept.h"
#include "open_file.h"
#include "options.h"
#include "run.h"
#include "signals.h"

namespace cudascan::scan {
namespace {

/// A copy of a file descriptor that programs which are started here do not get.
OpenFile copy_of(int file, const char *name) {
  OpenFile copy(fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!copy) throw Error(std::string("--serve: ") + name + ": " + std::strerror(errno));
  return copy;
}

/// The runs that come on standard input.
class Requests {
 public:
  Requests() : input_(copy_of(STDIN_FILENO, "standard input")) {}

  /// @return the words of a run, or nothing at the end of the input
  /// @throws UsageError for what is no run, Error when the input cannot be read
  std::optional<std::vector<std::string>> next() {
    std::string word;
    if (!read_word(word)) return std::nullopt;
    std::size_t count = 0;
    const char *const end = word.data() + word.size();
    const auto [rest, error] = std::from_chars(word.data(), end, count);
    if (word.empty() || error != std::errc() || rest != end || count > kMostWords)
      throw UsageError("--serve: \"" + word.substr(0, kShown) +
                       "\" on standard input: must be the number of words of a run, 0 to " +
                       std::to_string(kMostWords) + ", ended by NUL");
    std::vector<std::string> words;
    for (; words.size() < count; words.push_back(word))
      if (!read_word(word))
        throw UsageError("--serve: standard input has ended after " + std::to_string(words.size()) +
                         " of the " + std::to_string(count) + " words of a run");
    return words;
  }

 private:
  static constexpr std::size_t kMostWords = 100'000'000, kShown = 40;

  /// @return false if the input has ended before the first byte
  bool read_word(std::string &word) {
    word.clear();
    for (;;) {
      const std::size_t nul = bytes_.find('\0', at_);
      word.append(bytes_, at_, nul == std::string::npos ? nul : nul - at_);
      at_ = nul + 1;
      if (nul != std::string::npos) return true;
      if (read_more()) continue;
      if (word.empty()) return false;
      throw UsageError("--serve: standard input has ended in the middle of a word");
    }
  }

  bool read_more() {
    constexpr std::size_t kBytes = 1 << 16;
    bytes_.resize(kBytes);
    at_ = 0;
    ssize_t count = 0;
    do {
      count = read(input_.get(), bytes_.data(), kBytes);
    } while (count < 0 && errno == EINTR);
    if (count < 0) throw Error(std::string("--serve: standard input: ") + std::strerror(errno));
    bytes_.resize(static_cast<std::size_t>(count));
    return count > 0;
  }

  OpenFile input_;
  std::string bytes_;
  std::size_t at_ = 0;
};

/// So that no run reads requests or writes answers, nor does a library.
void redirect_streams() {
  const OpenFile nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!nothing || dup2(nothing.get(), STDIN_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    throw Error(std::string("--serve: ") + std::strerror(errno));
}

int serve_all(const std::string &program) {
  Requests requests;
  OpenFile answers = copy_of(STDOUT_FILENO, "standard output");
  redirect_streams();
  signal(SIGPIPE, SIG_IGN);  // then an answer that nobody reads is an error of write()
  Kept kept;
  while (std::optional<std::vector<std::string>> words = requests.next()) {
    words->insert(words->begin(), program);
    const int status = run(*words, kept, true);
    std::cout.flush();
    std::fflush(stdout);
    // A signal that comes later ends the process.
    stop_watching_signals();
    const bool ends = interrupted() || kept.has_failed();
    answers.write(std::to_string(status) + (ends ? " end\n" : "\n"));
    if (ends) return interrupted() ? kSignal + received_signal() : kAllDone;
  }
  return kAllDone;
}

}  // namespace

bool is_server(const std::vector<std::string> &words) {
  return words.size() == 2 && words[1] == "--serve";
}

int serve(const std::string &program) {
  try {
    return serve_all(program);
  } catch (const UsageError &error) {
    std::cerr << "cudascan-scan: " << error.what() << '\n';
    return kWrongUsage;
  } catch (const std::exception &error) {
    std::cerr << "cudascan-scan: " << error.what() << '\n';
    return kNothingDone;
  }
}

}  // namespace cudascan::scan
