// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/gswo/window_calls.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace cudascan::gswo {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

/// Words, numbers, and all other characters one by one; a string is a token of its quote alone.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {
    while (at_ < text_.size()) next();
  }
  std::vector<std::string_view> all;

 private:
  bool begins(std::string_view with) const { return text_.substr(at_, with.size()) == with; }
  /// Goes behind the next `end` from `from` on, or to the end of the text.
  void skip_to(std::string_view end, std::size_t from) {
    const std::size_t found = text_.find(end, std::min(from, text_.size()));
    at_ = found == text_.npos ? text_.size() : found + end.size();
  }

  void next() {
    const char c = text_[at_];
    if (std::isspace(static_cast<unsigned char>(c)))
      ++at_;
    else if (begins("//"))
      skip_to("\n", at_);
    else if (begins("/*"))
      skip_to("*/", at_ + 2);
    else if (c == '"' || c == '\'')
      quoted(c);
    else if (is_word(c))
      word();
    else
      all.push_back(text_.substr(at_++, 1));
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
    if (!number && word.back() == 'R' && word.size() <= 3 && begins("\""))
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

bool is_any(std::string_view word, std::initializer_list<std::string_view> of) {
  return std::find(of.begin(), of.end(), word) != of.end();
}

}  // namespace

WindowCalls window_calls(const std::string &text) {
  const std::vector<std::string_view> tokens = Tokens(text).all;
  const auto token = [&](std::size_t i) {
    return i < tokens.size() ? tokens[i] : std::string_view();
  };
  // What windows are called: p in formulas, in functions as `auto p`, `const auto &p` or `auto const &p` say.
  std::vector<std::string_view> windows{"p"};
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] != "auto") continue;
    while (is_any(token(++i), {"const", "&"})) {
    }
    windows.push_back(token(i));
  }

  WindowCalls calls;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool member = i > 0 && tokens[i - 1] == ".";
    const bool of_all = member && token(i + 1) == "(" && token(i + 2) == ")";
    if (of_all && tokens[i] == "min")
      calls.min = true;
    else if (of_all && tokens[i] == "max")
      calls.max = true;
    else if (of_all && tokens[i] == "median")
      calls.median = true;
    else if (is_any(tokens[i], {"median", "rank", "percentile", "sort", "nth_element"}))
      calls.order = true;
    else if (is_any(tokens[i], {"sum", "mean", "variance", "deviation", "each"}))
      calls.others = calls.others || member;
    else if (token(i + 1) == "(")
      calls.others =
          calls.others || std::find(windows.begin(), windows.end(), tokens[i]) != windows.end();
  }
  calls.others = calls.others || calls.order;
  return calls;
}

}  // namespace cudascan::gswo
