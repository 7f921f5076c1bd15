// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/usercode/divisions.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string_view>
#include <vector>

#include "kernels/usercode/tokens.h"

namespace cudascan::gswo {
namespace {

/// The text inserted before a division; for an assignment it is inserted after the operator.
constexpr std::string_view kDividing = "/ !gswo_by ";
constexpr const char *kAssigning = "= gswo_by ";

class Divisions {
 public:
  explicit Divisions(std::string_view text) : text_(text), tokens_(tokens_of(text)) {
    bool defines = false;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (begins_line(i)) defines = is_directive(i);
      const bool names = defines && tokens_[i] == "operator" && is_word_at(i + 1);
      names_operators_ = names_operators_ || names;
    }
  }

  std::string defined() {
    std::string result;
    std::size_t done = 0;
    const auto copy_to = [&](std::size_t end) {
      result += text_.substr(done, end - done);
      done = end;
    };
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (begins_line(i)) is_kept_ = is_directive(i) && directive(i) != "define";
      if (is_kept_ || !is_division(i)) continue;
      const bool assigns = follows_at_once(i, "=");
      if (is_safe_divisor(i + (assigns ? 2 : 1))) continue;
      const std::string sign(tokens_[i]);
      copy_to(begin(i));
      result += assigns ? sign + kAssigning : kDividing;
    }
    copy_to(text_.size());
    return result;
  }

 private:
  std::string_view token(std::size_t i) const {
    return i < tokens_.size() ? tokens_[i] : std::string_view();
  }
  bool is_word_at(std::size_t i) const { return i < tokens_.size() && is_word(tokens_[i][0]); }
  std::size_t begin(std::size_t i) const { return tokens_[i].data() - text_.data(); }
  std::size_t end(std::size_t i) const { return begin(i) + tokens_[i].size(); }
  bool follows_at_once(std::size_t i, std::string_view next) const {
    return token(i + 1) == next && begin(i + 1) == end(i);
  }

  /// Whether it is the first token of its line; a line continues after a backslash.
  bool begins_line(std::size_t i) const {
    if (i == 0) return true;
    const std::string_view between = text_.substr(end(i - 1), begin(i) - end(i - 1));
    return std::count(between.begin(), between.end(), '\n') > (tokens_[i - 1] == "\\" ? 1 : 0);
  }
  bool is_directive(std::size_t i) const {
    return tokens_[i] == "#" || (tokens_[i] == "%" && follows_at_once(i, ":"));
  }
  std::string_view directive(std::size_t i) const { return token(i + (tokens_[i] == "#" ? 1 : 2)); }

  bool is_division(std::size_t i) const {
    if (tokens_[i] != "/" && tokens_[i] != "%") return false;
    const std::string_view before = i ? tokens_[i - 1] : std::string_view();
    if (before == "operator") return false;
    if (tokens_[i] == "%") {  // part of %: and %> and <%, which are # and } and {
      if (follows_at_once(i, ":") || follows_at_once(i, ">")) return false;
      if (i && follows_at_once(i - 1, "%") && before == "<") return false;
    }
    if (before == "." || (token(i + 1) == "." && token(i + 2) == "." && token(i + 3) == "."))
      return false;
    // The argument of a macro, which may turn it into an operator.
    const std::size_t next = i + (follows_at_once(i, "=") ? 2 : 1);
    const bool alone =
        (before == "(" || before == ",") && (token(next) == ")" || token(next) == ",");
    return !alone || !names_operators_;
  }

  /// A number of digits that are not all 0 and not part of a user-defined literal.
  bool is_safe_divisor(std::size_t i) const {
    const std::string_view number = token(i);
    return !number.empty() && '0' <= number[0] && number[0] <= '9' &&
           number.find_first_of("123456789") != number.npos && number.find('_') == number.npos;
  }

  const std::string_view text_;
  const std::vector<std::string_view> tokens_;
  /// Whether a macro has a word after `operator`, which may be its argument.
  bool names_operators_ = false;
  bool is_kept_ = false;  // the line
};

/// The column in the user's line; both count from 1.
std::size_t original_column(std::string_view defined, std::size_t column) {
  constexpr std::string_view kName = "gswo_by ";
  std::size_t before = 0;  // inserted characters
  for (std::size_t at = 0; (at = defined.find(kName, at)) != defined.npos; at += kName.size()) {
    const std::size_t begin = at + kName.size() - kDividing.size();
    if (begin + 1 >= column) break;
    before += std::min(kDividing.size(), column - begin - 1);
  }
  return column - before;
}

}  // namespace

std::string with_defined_divisions(const std::string &text) {
  return Divisions(text).defined();
}

std::string in_columns_of(const std::string &name, const std::string &text,
                          const std::string &messages) {
  std::vector<std::string> defined;
  std::istringstream lines(with_defined_divisions(text));
  for (std::string line; std::getline(lines, line);) defined.push_back(line);

  std::string result = messages;
  for (std::size_t at = 0; (at = result.find(name + ':', at)) != result.npos;) {
    at += name.size() + 1;
    const char *const end = result.data() + result.size();
    std::size_t line = 0, column = 0;
    const auto [line_end, no_line] = std::from_chars(result.data() + at, end, line);
    if (no_line != std::errc() || line_end == end || *line_end != ':') continue;
    const auto [column_end, no_column] = std::from_chars(line_end + 1, end, column);
    if (no_column != std::errc() || line < 1 || line > defined.size()) continue;
    const std::string place = std::to_string(original_column(defined[line - 1], column));
    result.replace(line_end + 1 - result.data(), column_end - line_end - 1, place);
  }
  return result;
}

}  // namespace cudascan::gswo
