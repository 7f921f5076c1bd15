// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/usercode/formula.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <tuple>

#include "kernels/base/refuse.h"

namespace cudascan::gswo {
namespace {

/// Names that strict formulas may have, besides constants.
constexpr const char *kNames[] = {
    "p",    "x",     "y",     "width",  "height",   "maximum",    "min",       "max",   "sum",
    "mean", "count", "rank",  "median", "abs",      "clamp",      "sqrt",      "cbrt",  "exp",
    "exp2", "log",   "log2",  "log10",  "pow",      "sin",        "cos",       "tan",   "asin",
    "acos", "atan",  "atan2", "hypot",  "floor",    "ceil",       "round",     "trunc", "fabs",
    "fmin", "fmax",  "fmod",  "true",   "variance", "percentile", "deviation", "false"};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

constexpr int kMostNested = 200;

/// A formula by the grammar that strict ones have:
///
///     formula = binary [ "?" formula ":" formula ]
///     binary  = unary { SIGN unary }
///     unary   = ("+" | "-" | "!" | "~" | "(" TYPE ")") unary | value
///     value   = (NUMBER | NAME | TYPE "(" formula ")" | "(" formula ")")
///               { "." NAME | "(" [ formula { "," formula } ] ")" }
///
/// TYPE is int or float, SIGN is one that computes or compares. So a formula cannot write anything
/// and can only read named values.
class StrictFormula {
 public:
  StrictFormula(const std::string &text, const std::vector<UserFilterConstant> &constants)
      : text_(text), constants_(constants) {}

  void check() {
    next();
    formula();
    if (!token_.empty()) unexpected();
  }

 private:
  [[noreturn]] void bad(const std::string &what) const {
    refuse(
        "expression = \"", text_, "\": strict = true does not allow ", what,
        "; write a formula of p, the numbers in params and functions such as sqrt, or set strict "
        "to false");
  }
  [[noreturn]] void unexpected() const {
    if (token_.empty()) bad("an incomplete formula");
    bad("\"" + std::string(token_) + "\" at character " + std::to_string(begin_ + 1));
  }

  char at(std::size_t place) const { return place < text_.size() ? text_[place] : '\0'; }
  bool is_digit(std::size_t place) const { return '0' <= at(place) && at(place) <= '9'; }

  /// Moves to the next number, name or sign; none at the end.
  void next() {
    std::size_t end = end_;
    while (end < text_.size() && std::isspace(static_cast<unsigned char>(text_[end]))) ++end;
    begin_ = end;
    if (is_digit(end) || (at(end) == '.' && is_digit(end + 1))) {
      for (; is_word(at(end)) || at(end) == '.'; ++end)
        if (std::string_view("eEpP").find(at(end)) != std::string_view::npos &&
            (at(end + 1) == '+' || at(end + 1) == '-'))
          ++end;
    } else if (is_word(at(end))) {
      while (is_word(at(end))) ++end;
    } else if (end < text_.size()) {
      const std::string_view two = std::string_view(text_).substr(end, 2);
      // For compilers two consecutive signs may be one, whether that is allowed here or not.
      constexpr std::string_view kTwo[] = {"<=", ">=", "==", "!=", "&&",
                                           "||", "<<", ">>", "++", "--"};
      end += std::find(std::begin(kTwo), std::end(kTwo), two) == std::end(kTwo) ? 1 : 2;
    }
    end_ = end;
    token_ = std::string_view(text_).substr(begin_, end - begin_);
  }
  bool take(std::string_view sign) {
    if (token_ != sign) return false;
    next();
    return true;
  }
  void expect(std::string_view sign) {
    if (!take(sign)) unexpected();
  }
  bool take_any(std::initializer_list<std::string_view> signs) {
    return std::any_of(signs.begin(), signs.end(),
                       [&](std::string_view sign) { return take(sign); });
  }

  void formula() {
    const Nested nested(*this);
    unary();
    while (take_any({"*", "/", "%", "+", "-", "<<", ">>", "<", ">", "<=", ">=", "==", "!=", "&",
                     "^", "|", "&&", "||"}))
      unary();
    if (!take("?")) return;
    formula();
    expect(":");
    formula();
  }
  void unary() {
    const Nested nested(*this);
    if (take_any({"+", "-", "!", "~"}) || take_cast()) return unary();
    value();
    for (;;) {
      if (take("."))
        name();
      else if (take("("))
        arguments();
      else
        return;
    }
  }
  bool take_cast() {
    const auto before = std::tuple(begin_, end_, token_);
    if (take("(") && take_type() && take(")")) return true;
    std::tie(begin_, end_, token_) = before;
    return false;
  }
  bool take_type() { return take_any({"int", "float"}); }
  void value() {
    if (take("(")) {
      formula();
      expect(")");
    } else if (take_type()) {
      expect("(");
      formula();
      expect(")");
    } else if (is_digit(begin_) || (at(begin_) == '.' && is_digit(begin_ + 1))) {
      next();
    } else {
      name();
    }
  }
  void arguments() {
    if (take(")")) return;
    do formula();
    while (take(","));
    expect(")");
  }
  void name() {
    if (token_.empty() || !is_word(token_[0]) || is_digit(begin_)) unexpected();
    const bool known =
        std::find(std::begin(kNames), std::end(kNames), token_) != std::end(kNames) ||
        std::any_of(constants_.begin(), constants_.end(),
                    [&](const UserFilterConstant &constant) { return constant.name == token_; });
    if (!known) bad("\"" + std::string(token_) + "\"");
    next();
  }

  struct Nested {
    explicit Nested(StrictFormula &f) : formula(f) {
      if (++formula.depth_ > kMostNested) formula.bad("such deep nesting");
    }
    ~Nested() { --formula.depth_; }
    StrictFormula &formula;
  };

  const std::string &text_;
  const std::vector<UserFilterConstant> &constants_;
  std::size_t begin_ = 0, end_ = 0;  // of the token
  std::string_view token_;
  int depth_ = 0;
};

}  // namespace

void check_formula(const std::string &expression) {
  const auto bad = [&](const char *why) {
    refuse("expression = \"", expression, "\": ", why,
           "; write a formula such as p.max() - p.min()");
  };
  std::string open;
  for (const char c : expression) {
    if (c == '(' || c == '[' || c == '{') {
      open += c == '(' ? ')' : c == '[' ? ']' : '}';
    } else if (c == ')' || c == ']' || c == '}') {
      if (open.empty() || open.back() != c) bad("its brackets do not match");
      open.pop_back();
    } else if (c == '#' || c == '\\' || c == '"' || (c == ';' && open.find('}') == open.npos)) {
      bad("a formula cannot contain # \\ \" and ;");
    }
  }
  if (!open.empty()) bad("its brackets do not match");
}

void check_strict_formula(const std::string &expression,
                          const std::vector<UserFilterConstant> &constants) {
  StrictFormula(expression, constants).check();
}

}  // namespace cudascan::gswo
