// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/usercode/window_calls.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "kernels/usercode/tokens.h"

namespace cudascan::gswo {
namespace {

bool is_any(std::string_view word, std::initializer_list<std::string_view> of) {
  return std::find(of.begin(), of.end(), word) != of.end();
}

}  // namespace

WindowCalls window_calls(const std::string &text) {
  const std::vector<std::string_view> tokens = tokens_of(text);
  const auto token = [&](std::size_t i) {
    return i < tokens.size() ? tokens[i] : std::string_view();
  };
  // The window's name: p in formulas; in functions as declared by `auto p`, `const auto &p` or
  // `auto const &p`.
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
    else if (member && is_any(tokens[i], {"rank", "percentile"}) && token(i + 1) == "(" &&
             token(i + 3) == ")")
      calls.ranks.push_back({tokens[i] == "percentile", std::string(token(i + 2))});
    else if (is_any(tokens[i], {"median", "rank", "percentile", "sort", "nth_element"}))
      calls.order = true;
    else if (is_any(tokens[i], {"sum", "mean"}))
      calls.sums = calls.sums || member;
    else if (is_any(tokens[i], {"variance", "deviation"}))
      calls.sums = calls.sums || member, calls.squares = calls.squares || member;
    else if (tokens[i] == "count")
      calls.count = calls.count || member;
    else if (tokens[i] == "each")
      calls.others = calls.others || member;
    else if (token(i + 1) == "(")
      calls.others =
          calls.others || std::find(windows.begin(), windows.end(), tokens[i]) != windows.end();
  }
  calls.others = calls.others || calls.order;
  return calls;
}

}  // namespace cudascan::gswo
