// SPDX-License-Identifier: LGPL-2.1-or-later
// `--strict`: allows only text that all compilers read in the same way.
#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "gswo/strict.h"

namespace cudascan::gswo {

namespace {

using clang::tok::TokenKind;

constexpr std::array<std::string_view, 5> kAttributes{"maybe_unused", "nodiscard", "fallthrough",
                                                      "likely", "unlikely"};
/// Pragmas of other models and for unrolling: they do not change the meaning of code.
constexpr std::array<std::string_view, 5> kPragmas{"once", "omp", "acc", "unroll", "ivdep"};

template <std::size_t n>
bool is_any(const std::array<std::string_view, n> &of, const std::string &word) {
  return std::find(of.begin(), of.end(), word) != of.end();
}

/// Names that compilers and generated code reserve.
bool is_reserved(const std::string &name) {
  return name.compare(0, 2, "__") == 0 ||
         (name.size() > 1 && name[0] == '_' && 'A' <= name[1] && name[1] <= 'Z') ||
         name.compare(0, 4, "GSWO") == 0 || name.compare(0, 4, "gswo") == 0;
}

void check_characters(Source &source) {
  const std::string &text = source.text();
  for (std::size_t k = 0; k < text.size(); ++k) {
    const auto c = static_cast<unsigned char>(text[k]);
    const char next = k + 1 < text.size() ? text[k + 1] : '\0';
    if ((c < ' ' && c != '\t' && c != '\n' && c != '\r') || (c == '\r' && next != '\n'))
      source.error(k, "control characters are not allowed (strict)");
    if (c != '\\' || (next != ' ' && next != '\t')) continue;
    const std::size_t end = text.find_first_not_of(" \t\r", k + 1);
    if (end != std::string::npos && text[end] == '\n')
      source.error(k, "blanks between \\ and the end of its line are not allowed (strict)");
  }
}

/// Whether generated code does not use a name.
bool is_capital(const std::string &name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return c == '_' || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9');
  });
}

/// Generated code repeats parts of the file elsewhere, and a macro must mean the same there.
void check_macros(Source &source, const Annotations &notes) {
  std::set<std::string> seen;
  std::size_t next = 0;  // token
  bool in_condition = false;
  const auto see_until = [&](unsigned end) {
    for (; next < notes.tokens.size() && notes.tokens[next].begin < end; ++next) {
      const Token &token = notes.tokens[next];
      if (token.line_start) {
        const std::string word = token.kind == TokenKind::hash && next + 1 < notes.tokens.size()
                                     ? spelling(source, notes.tokens[next + 1])
                                     : "";
        in_condition = word.compare(0, 2, "if") == 0 || word.compare(0, 2, "el") == 0;
      }
      if (token.kind == TokenKind::raw_identifier && !in_condition)
        seen.insert(spelling(source, token));
    }
  };
  for (const MacroLine &macro : macro_lines(source, notes)) {
    see_until(macro.begin);
    const auto refuse = [&](const std::string &what) {
      source.error(macro.begin, what + " (strict)");
    };
    if (!macro.defines)
      refuse("#undef is not allowed; give each macro a name of its own");
    else if (!is_capital(macro.name))
      refuse("the macro '" + macro.name + "' must be in capitals, such as MACRO_1");
    else if (seen.count(macro.name))
      refuse("'" + macro.name + "' is used before its definition; define each macro once, " +
             "before it is used");
    see_until(macro.end);
  }
}

}  // namespace

void check_text(Source &source, const Annotations &notes) {
  check_characters(source);
  check_macros(source, notes);
  const std::vector<Token> &tokens = notes.tokens;
  const auto kind = [&](std::size_t k) {
    return k < tokens.size() ? tokens[k].kind : TokenKind::eof;
  };
  const auto text = [&](std::size_t k) {
    return k < tokens.size() ? spelling(source, tokens[k]) : "";
  };
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    const auto refuse = [&](const std::string &what) {
      source.error(tokens[k].begin, what + " (strict)");
    };
    if (tokens[k].kind == TokenKind::raw_identifier) {
      const std::string name = text(k);
      if (is_reserved(name))
        refuse("'" + name + "' is reserved for compilers and generated code; it is not allowed");
      if (name == "asm") refuse("assembler is not allowed");
    } else if (tokens[k].kind == TokenKind::hashhash) {
      refuse("joining names by ## is not allowed");
    } else if (kind(k) == TokenKind::l_square && kind(k + 1) == TokenKind::l_square) {
      if (!is_any(kAttributes, text(k + 2)) || kind(k + 3) != TokenKind::r_square)
        refuse("attributes other than [[maybe_unused]] and the like are not allowed");
    } else if (kind(k) == TokenKind::hash && tokens[k].line_start && text(k + 1) == "pragma") {
      const bool ours = std::any_of(notes.pragmas.begin(), notes.pragmas.end(),
                                    [&](const Pragma &p) { return p.begin == tokens[k].begin; });
      if (!ours && !is_any(kPragmas, text(k + 2)))
        refuse("'#pragma " + text(k + 2) + "' is not allowed");
    }
  }
}

}  // namespace cudascan::gswo
