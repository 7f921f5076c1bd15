// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/usercode/includes.h"

#include <charconv>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "kernels/base/refuse.h"

namespace cudascan::gswo {
namespace {

bool is_digit(int c) {
  return c >= '0' && c <= '9';
}
bool is_letter(int c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c >= 0x80;
}
bool is_word(int c) {
  return is_letter(c) || is_digit(c);
}
bool is_line_end(int c) {
  return c == '\n' || c == '\r' || c < 0;
}
bool is_blank(int c) {
  return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

bool contains_any(std::string_view text, std::initializer_list<std::string_view> words) {
  for (std::string_view word : words)
    if (text.find(word) != std::string_view::npos) return true;
  return false;
}

bool leads_outside(std::string_view path) {
  if (path.empty() || path.front() == '/') return true;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (path.substr(0, end) == "..") return true;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return false;
}

/// Reads a text like a preprocessor: joins lines, skips comments, keeps literals whole.
class Scanner {
 public:
  explicit Scanner(const SourceText &source) : text_(source.text), file_(source.name) {}

  void run() {
    bool line_start = true;
    for (int c = peek(); c >= 0; c = peek()) {
      if (is_line_end(c)) {
        take();
        line_start = true;
        asks_for_name_ = false;
      } else if (!skip_blank()) {
        token(c, line_start);
        line_start = false;
      }
    }
  }

 private:
  // The next character, after joining lines, or -1 at the end.
  int peek() {
    for (;;) {
      if (at_ >= text_.size()) return -1;
      if (text_[at_] != '\\') return static_cast<unsigned char>(text_[at_]);
      std::size_t end = at_ + 1;
      while (end < text_.size() && is_blank(text_[end])) ++end;
      if (end < text_.size() && text_[end] == '\r') ++end;
      if (end >= text_.size() || text_[end] != '\n') return '\\';
      at_ = end + 1;
      ++line_;
    }
  }
  int take() {
    const int c = peek();
    if (c >= 0) ++at_;
    if (c == '\n') ++line_;
    return c;
  }
  bool take_if(std::string_view wanted) {
    const Position here{at_, line_};
    for (char c : wanted)
      if (take() != c) {
        at_ = here.at, line_ = here.line;
        return false;
      }
    return true;
  }
  // One blank or comment.
  bool skip_blank() {
    if (is_blank(peek())) return take() >= 0;
    if (take_if("//")) {
      while (!is_line_end(peek())) take();
      return true;
    }
    if (take_if("/*")) {
      while (peek() >= 0 && !take_if("*/")) take();
      return true;
    }
    return false;
  }
  void skip_blanks() {
    while (skip_blank()) {
    }
  }
  std::string word() {
    std::string word;
    while (is_word(peek())) word += static_cast<char>(take());
    return word;
  }
  // Up to and including `end`, or to the end of the line.
  std::string until(char end) {
    std::string text;
    while (!is_line_end(peek())) {
      const int c = take();
      if (c == end) break;
      text += static_cast<char>(c);
      if (c == '\\' && end != '>' && !is_line_end(peek())) text += static_cast<char>(take());
    }
    return text;
  }

  void token(int c, bool line_start) {
    if (line_start && (take_if("#") || take_if("%:"))) return directive();
    if (c == '"' || c == '\'') {
      take();
      return literal(until(static_cast<char>(c)));
    }
    if (is_digit(c)) return number();
    if (!is_letter(c)) {
      take();
      joined_.clear();
      return;
    }
    const std::string name = word();
    if (peek() == '"' && is_raw_prefix(name)) return raw_literal();
    // The prefix of a literal, as in u8"text".
    if (peek() != '"') joined_.clear();
    if (name == "_Pragma") pragma_follows_ = true;
    if (name == "defined") asks_for_name_ = true;
    if (name == "__has_include" || name == "__has_include_next" || name == "__has_embed") {
      skip_blanks();
      if (take_if("("))
        header(name);
      else if (!asks_for_name_)
        fail(name + " needs the name of a header in (); it cannot be given another name");
    }
    if (name == "import") {
      skip_blanks();
      if (peek() == '"' || peek() == '<') header(name);
    }
  }

  // 1'000 is one number, 1'"' is a number and a character.
  void number() {
    while (is_word(peek()) || peek() == '.' || (peek() == '\'' && is_word(after_next()))) take();
  }
  int after_next() {
    const Position here{at_, line_};
    take();
    const int c = peek();
    at_ = here.at, line_ = here.line;
    return c;
  }
  static bool is_raw_prefix(std::string_view name) {
    for (std::string_view prefix : {"R", "LR", "uR", "UR", "u8R"})
      if (name == prefix) return true;
    return false;
  }

  void raw_literal() {
    take();
    std::string end = ")";
    while (at_ < text_.size() && text_[at_] != '(' && text_[at_] != '\n') end += text_[at_++];
    end += '"';
    const std::size_t found = std::min(text_.find(end, at_), text_.size());
    const std::string_view contents = std::string_view(text_).substr(at_, found - at_);
    literal(std::string(contents));
    for (char c : contents) line_ += c == '\n';
    at_ = std::min(found + end.size(), text_.size());
  }

  // Adjacent literals are one.
  void literal(const std::string &contents) {
    joined_ += contents;
    if (contains_any(joined_, {".incbin", ".include"}))
      fail("assembler code cannot read files (.incbin, .include)");
    if (pragma_follows_) pragma(contents);
    pragma_follows_ = false;
  }

  void pragma(const std::string &text) {
    if (contains_any(text, {"dependency", "include_alias", "pch_preprocess"}))
      fail("this pragma reads files, which a filter cannot do: " + text);
  }

  void directive() {
    joined_.clear();
    skip_blanks();
    const std::string name = word();
    asks_for_name_ = name == "ifdef" || name == "ifndef";
    if (name == "include" || name == "include_next" || name == "import" || name == "embed")
      return header("#" + name);
    if (name == "pragma") return pragma(until('\n'));
    if (name == "line" || (!name.empty() && is_digit(name[0]))) set_line(name);
  }

  void header(const std::string &where) {
    skip_blanks();
    const char end = peek() == '"' ? '"' : '>';
    if (!take_if("\"") && !take_if("<"))
      fail(where + " needs the name of a header in \"\" or <>; it cannot be made by a macro");
    const std::string path = until(end);
    if (leads_outside(path))
      fail(where + " of \"" + path +
           "\": a filter can include only the headers that come with "
           "cudascan, by their names; copy what you need into the filter's file");
  }

  // #line 12 "file" and # 12 "file"
  void set_line(std::string number) {
    skip_blanks();
    if (number == "line") number = word(), skip_blanks();
    int line = 0;
    std::from_chars(number.data(), number.data() + number.size(), line);
    if (take_if("\"")) {
      file_.clear();
      for (bool escaped = false; char c : until('"')) {
        escaped = c == '\\' && !escaped;
        if (!escaped) file_ += c;
      }
    }
    while (!is_line_end(peek())) take();
    line_ = line - 1;  // the end of this line increases it
  }

  [[noreturn]] void fail(const std::string &message) const {
    refuse(file_, ":", line_, ": error: ", message);
  }

  struct Position {
    std::size_t at;
    int line;
  };
  const std::string &text_;
  std::string file_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool pragma_follows_ = false;
  bool asks_for_name_ = false;  // in #ifdef and the like, and after `defined`
  std::string joined_;          // the adjacent literals
};

}  // namespace

void check_includes(const Unit &unit) {
  for (const SourceText &header : unit.headers) Scanner(header).run();
  Scanner(unit.main).run();
}

namespace {

/// The names after the colon of a make rule, in which blanks and make's special characters are
/// escaped.
std::vector<std::string> names_in_rule(const std::string &rule) {
  std::vector<std::string> names{""};
  for (std::size_t at = std::min(rule.find(": "), rule.size()); at < rule.size(); ++at) {
    const char next = at + 1 < rule.size() ? rule[at + 1] : '\0';
    const bool escaped =
        (rule[at] == '\\' && (is_blank(next) || next == '#')) || (rule[at] == '$' && next == '$');
    if (escaped)
      names.back() += rule[++at];
    else if (is_blank(rule[at]) || is_line_end(rule[at]) || (rule[at] == '\\' && next == '\n'))
      names.emplace_back();
    else if (rule[at] != ':' || !names.back().empty())
      names.back() += rule[at];
  }
  std::erase(names, "");
  return names;
}

}  // namespace

void check_included(const Unit &unit, const std::string &rule, const std::string &folder) {
  for (const std::string &name : names_in_rule(rule))
    if (!name.starts_with(folder + '/'))
      refuse(unit.main.name, ":1: error: the file \"", name,
             "\" is included; a filter can include only the headers that come with cudascan, by "
             "their names; copy what you need into the filter's file");
}

}  // namespace cudascan::gswo
