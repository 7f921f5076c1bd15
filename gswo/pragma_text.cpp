// SPDX-License-Identifier: LGPL-2.1-or-later
// Names of pragmas and texts of tokens and macros.
#include "gswo/pragmas.h"

namespace cudascan::gswo {

const char *Pragma::title() const {
  switch (kind) {
    case PragmaKind::region:
      return "parallel region";
    case PragmaKind::parallel:
      return "parallel";
    case PragmaKind::loop:
      return "for";
    case PragmaKind::initialisation:
      return "single initialisation";
    case PragmaKind::transfer:
      return "single transfer";
    case PragmaKind::remain:
      return "single remain";
    case PragmaKind::assign:
      return "single assign";
    case PragmaKind::memory:
      break;
  }
  return "memory";
}

std::string spelling(const Source &source, const Token &token) {
  const std::string raw = source.text().substr(token.begin, token.end - token.begin);
  std::string text;
  for (std::size_t k = 0; k < raw.size(); ++k) {
    const std::size_t end = raw[k] == '\\' ? raw.find_first_not_of(" \t\r", k + 1) : raw.npos;
    if (end != raw.npos && raw[end] == '\n')
      k = end;  // the line continues
    else
      text += raw[k];
  }
  return text;
}

std::vector<MacroLine> macro_lines(const Source &source, const Annotations &notes) {
  const std::vector<Token> &tokens = notes.tokens;
  std::vector<MacroLine> found;
  for (std::size_t k = 0; k + 2 < tokens.size(); ++k) {
    if (tokens[k].kind != clang::tok::hash || !tokens[k].line_start) continue;
    const std::string word = spelling(source, tokens[k + 1]);
    if (word != "define" && word != "undef") continue;
    std::size_t last = k + 1;
    while (last + 1 < tokens.size() && !tokens[last + 1].line_start) ++last;
    found.push_back({tokens[k].begin, tokens[last].end, word == "define",
                     last > k + 1 ? spelling(source, tokens[k + 2]) : ""});
  }
  return found;
}

}  // namespace cudascan::gswo
