// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/gswo/formula.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "kernels/refuse.h"

namespace cudascan::gswo {
namespace {

/// Names that strict formulas may have, besides constants.
constexpr const char *kNames[] = {
    "p",    "x",     "y",        "width",      "height",    "maximum", "min",   "max",
    "sum",  "mean",  "count",    "rank",       "median",    "abs",     "clamp", "sqrt",
    "cbrt", "exp",   "exp2",     "log",        "log2",      "log10",   "pow",   "sin",
    "cos",  "tan",   "asin",     "acos",       "atan",      "atan2",   "hypot", "floor",
    "ceil", "round", "trunc",    "fabs",       "fmin",      "fmax",    "fmod",  "true",
    "int",  "float", "variance", "percentile", "deviation", "false"};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

[[noreturn]] void refuse_strict(const std::string &expression, const std::string &what) {
  refuse(
      "expression = \"", expression, "\": strict = true allows no ", what,
      "; write a formula of p, the numbers in params and functions such as sqrt, or set strict to "
      "false");
}

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
      bad("a formula has no # \\ \" and ;");
    }
  }
  if (!open.empty()) bad("its brackets do not match");
}

void check_strict_formula(const std::string &expression,
                          const std::vector<SwoFilterConstant> &constants) {
  const auto is_known = [&](const std::string &name) {
    return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) ||
           std::any_of(constants.begin(), constants.end(),
                       [&](const SwoFilterConstant &constant) { return constant.name == name; });
  };
  char before = 0;  // the last character that is no space
  for (std::size_t at = 0; at < expression.size(); ++at) {
    const char c = expression[at];
    if (std::isspace(static_cast<unsigned char>(c))) continue;
    if (is_word(c)) {
      std::size_t end = at;
      while (end < expression.size() && (is_word(expression[end]) || expression[end] == '.')) {
        // A number goes on behind its point, the name of an object does not.
        if (expression[end] == '.' && !std::isdigit(static_cast<unsigned char>(c))) break;
        ++end;
      }
      const std::string word = expression.substr(at, end - at);
      if (!std::isdigit(static_cast<unsigned char>(c)) && !is_known(word))
        refuse_strict(expression, "\"" + word + "\"");
      at = end - 1;
    } else if (std::string("+-*/%()<>=!&|?:,.").find(c) == std::string::npos) {
      refuse_strict(expression, std::string("\"") + c + "\"");
    } else if ((c == '&' || c == '*') && !is_word(before) && before != ')' &&
               !(c == '&' && before == '&')) {
      refuse_strict(expression, "addresses");
    } else if ((c == ':' && before == ':') || (c == '>' && before == '-') ||
               (c == '=' && !(before == '=' || before == '!' || before == '<' || before == '>') &&
                (at + 1 >= expression.size() || expression[at + 1] != '='))) {
      refuse_strict(expression, std::string("\"") + before + c + "\"");
    }
    before = expression[at];
  }
}

}  // namespace cudascan::gswo
