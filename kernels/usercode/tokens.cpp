// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/usercode/tokens.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string>

namespace cudascan::gswo {
namespace {

class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {
    while (at_ < text_.size()) next();
  }
  std::vector<std::string_view> all;

 private:
  bool begins(std::string_view with) const { return text_.substr(at_, with.size()) == with; }
  /// Moves past the next `end` from `from` on, or to the end of the text.
  void skip_to(std::string_view end, std::size_t from) {
    const std::size_t found = text_.find(end, std::min(from, text_.size()));
    at_ = found == text_.npos ? text_.size() : found + end.size();
  }

  void next() {
    const char c = text_[at_];
    if (std::isspace(static_cast<unsigned char>(c)))
      ++at_;
    else if (begins("//"))
      line_comment();
    else if (begins("/*"))
      skip_to("*/", at_ + 2);
    else if (c == '"' || c == '\'')
      quoted(c);
    else if (is_word(c))
      word();
    else
      all.push_back(text_.substr(at_++, 1));
  }
  /// It continues if its line ends with a backslash.
  void line_comment() {
    std::size_t last;
    do {
      skip_to("\n", at_);
      last = text_.find_last_not_of(" \t\r", at_ - 2);
    } while (at_ < text_.size() && text_[last] == '\\');
  }
  void word() {
    const bool number = std::isdigit(static_cast<unsigned char>(text_[at_]));
    std::size_t end = at_;
    const auto goes_on = [&] {
      if (is_word(text_[end])) return true;
      // 1'000 and 1.5
      return number && (text_[end] == '.' ||
                        (text_[end] == '\'' && end + 1 < text_.size() && is_word(text_[end + 1])));
    };
    while (end < text_.size() && goes_on()) ++end;
    const std::string_view word = text_.substr(at_, end - at_);
    at_ = end;
    constexpr std::string_view kRaw[] = {"R", "LR", "uR", "UR", "u8R"};
    if (begins("\"") && std::find(std::begin(kRaw), std::end(kRaw), word) != std::end(kRaw))
      raw();
    else
      all.push_back(word);
  }
  void quoted(char quote) {
    all.push_back(text_.substr(at_++, 1));
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n')
      at_ += text_[at_] == '\\' ? 2 : 1;
    ++at_;
  }
  /// R"x(...)x"
  void raw() {
    all.push_back(text_.substr(at_, 1));
    const std::size_t open = std::min(text_.find('(', at_), text_.size());
    const std::string name(text_.substr(at_ + 1, open - std::min(open, at_ + 1)));
    skip_to(")" + name + "\"", open);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

std::vector<std::string_view> tokens_of(std::string_view text) {
  return Tokens(text).all;
}

}  // namespace cudascan::gswo
