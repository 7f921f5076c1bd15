// SPDX-License-Identifier: LGPL-2.1-or-later
#include "damage.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

namespace cudascan::gswo::test {
namespace {

using Strings = std::vector<std::string>;

const Strings kWords{"{",
                     "}",
                     "(",
                     ")",
                     "[",
                     "]",
                     ";",
                     "*",
                     "&",
                     ",",
                     "<",
                     "=",
                     "++",
                     "-",
                     "0",
                     "1",
                     "-1",
                     "2147483647",
                     "99999999999999999999",
                     "int",
                     "float",
                     "for",
                     "if",
                     "return",
                     "break",
                     "continue",
                     "static",
                     "\n#pragma parallel\n",
                     "\n#pragma for nest(2)\n",
                     "\n#pragma single initialisation {\n",
                     "\n#pragma single transfer\n",
                     "\n#if 0\n",
                     "\n#endif\n",
                     "i",
                     "j",
                     "v",
                     "sizeof",
                     "goto",
                     "do",
                     "while",
                     "template <class T>",
                     "struct S {",
                     "auto",
                     "[&]{",
                     "0.5",
                     "\"",
                     "'",
                     "/*",
                     "//",
                     "\\\n",
                     "%",
                     "/",
                     "0 ? 1 :",
                     "const",
                     "volatile",
                     "__int128",
                     "decltype(",
                     "operator",
                     "this",
                     "..."};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

/// 0 for characters of words, 1 for blanks, 2 for any other character.
int kind(char c) {
  return is_word(c) ? 0 : std::isspace(static_cast<unsigned char>(c)) ? 1 : 2;
}

}  // namespace

std::string Damage::heavy(const std::string &text, const std::string &other) {
  Strings tokens;
  for (std::size_t k = 0; k < text.size(); ++k)
    if (k && kind(text[k]) == kind(text[k - 1]) && kind(text[k]) != 2)
      tokens.back() += text[k];
    else
      tokens.push_back(text.substr(k, 1));
  for (std::size_t times = 1 + below(4); times; --times) change(tokens, other);
  std::string result;
  for (const std::string &t : tokens) result += t;
  if (below(20) == 0) result.resize(below(result.size()));
  if (below(20) == 0 && !result.empty())
    result[below(result.size())] = static_cast<char>(random_());
  return result;
}

void Damage::change(Strings &tokens, const std::string &other) {
  if (tokens.empty()) return;
  const std::size_t a = below(tokens.size()), b = below(tokens.size());
  switch (below(8)) {
    case 0:
      tokens.erase(tokens.begin() + static_cast<long>(a));
      break;
    case 1:
      tokens.insert(tokens.begin() + static_cast<long>(a), tokens[b]);
      break;
    case 2:
      std::swap(tokens[a], tokens[b]);
      break;
    case 3:
      tokens[a] = tokens[b];
      break;
    case 4:
    case 5:
      tokens.insert(tokens.begin() + static_cast<long>(a), kWords[below(kWords.size())]);
      break;
    case 6:
      tokens[a] = kWords[below(kWords.size())];
      break;
    default: {
      const std::size_t from = below(other.size());
      tokens.insert(tokens.begin() + static_cast<long>(a), other.substr(from, below(60)));
    }
  }
}

// ---- Changes that leave most sources well-formed

namespace {

const Strings kNumbers{"0", "1", "2", "3", "7", "16", "-1", "255", "1000000", "0.5f", "2.5", "1e3"};
const Strings kTypes{"int",  "float", "double", "short",    "char",
                     "long", "bool",  "auto",   "unsigned", "unsigned char"};
const Strings kClauses{" tile(8, 8)",      " tile(64, 4) chunksize(2, 2)",
                       " chunksize(1, 4)", " nest(2)",
                       " nest(1)",         " tile(7, 5)"};
const Strings kSteps{"single initialisation", "single transfer", "single remain", "single assign"};
/// An operator can replace the others in its row.
const std::vector<Strings> kOperators{{"+", "-", "*", "/", "%"},
                                      {"<", "<=", ">", ">=", "==", "!="},
                                      {"=", "+=", "-=", "*="},
                                      {"++", "--"},
                                      {"&&", "||"},
                                      {"&", "|", "^"}};

enum Kind { word, number, sign, directive, rest };

struct Token {
  Kind kind;
  std::string text;
};

Token next_token(const std::string &text, std::size_t at, bool begins_line) {
  const auto until = [&](std::size_t end) { return text.substr(at, end - at); };
  const char c = text[at];
  std::size_t end = at + 1;
  if (c == '#' && begins_line) return {directive, until(text.find('\n', at))};
  if (text.compare(at, 2, "//") == 0) return {rest, until(text.find('\n', at))};
  if (text.compare(at, 2, "/*") == 0) return {rest, until(text.find("*/", at + 2) + 2)};
  if (c == '"' || c == '\'') {
    while (end < text.size() && text[end] != c) end += text[end] == '\\' ? 2 : 1;
    return {rest, until(end + 1)};
  }
  if (is_word(c)) {
    const bool digits = std::isdigit(static_cast<unsigned char>(c));
    while (end < text.size() && (is_word(text[end]) || (digits && text[end] == '.'))) ++end;
    return {digits ? number : word, until(end)};
  }
  for (const std::size_t length : {2, 1})
    for (const Strings &family : kOperators)
      for (const std::string &one : family)
        if (one.size() == length && text.compare(at, length, one) == 0) return {sign, one};
  return {rest, std::string(1, c)};
}

std::vector<Token> tokens_of(const std::string &text) {
  std::vector<Token> tokens;
  bool begins_line = true;
  for (std::size_t at = 0; at < text.size(); at += tokens.back().text.size()) {
    tokens.push_back(next_token(text, at, begins_line));
    begins_line = text[at] == '\n' || (begins_line && text[at] == ' ');
  }
  return tokens;
}

/// Simple statements: from after a brace or a semicolon to the next semicolon.
std::vector<std::array<std::size_t, 2>> statements_of(const std::vector<Token> &tokens) {
  std::vector<std::array<std::size_t, 2>> statements;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    const std::string &t = tokens[k].text;
    depth += (t == "(") - (t == ")");
    if (t == "{" || t == "}" || tokens[k].kind == directive) begin = k + 1;
    if (t == ";" && depth == 0) {
      statements.push_back({begin, k + 1});
      begin = k + 1;
    }
  }
  return statements;
}

std::string text_of(const std::vector<Token> &tokens, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t k = begin; k < end; ++k) text += tokens[k].text;
  return text;
}

}  // namespace

const std::string &Damage::one_of(const Strings &all) {
  return all[below(all.size())];
}

std::string Damage::mild(const std::string &text) {
  std::string result = text;
  for (std::size_t times = 1 + below(2); times; --times) result = step(result);
  return result;
}

std::string Damage::step(const std::string &text) {
  std::vector<Token> tokens = tokens_of(text);
  const auto any = [&](Kind kind) -> Token & {
    std::vector<Token *> all;
    for (Token &t : tokens)
      if (t.kind == kind) all.push_back(&t);
    static Token none;
    return all.empty() ? none = {rest, ""} : *all[below(all.size())];
  };
  switch (below(8)) {
    case 0: {
      Token &t = any(number);
      t.text = below(2) ? one_of(kNumbers) : any(number).text;
      break;
    }
    case 1: {
      Token &t = any(sign);
      for (const Strings &family : kOperators)
        if (std::find(family.begin(), family.end(), t.text) != family.end()) {
          t.text = one_of(family);
          break;
        }
      break;
    }
    case 2: {
      Token &t = any(word);
      const bool is_type = std::find(kTypes.begin(), kTypes.end(), t.text) != kTypes.end();
      t.text = is_type ? one_of(kTypes) : any(word).text;
      break;
    }
    case 3: {
      Token &t = any(word);
      const Strings forms{"(" + t.text + " + 1)", "(-" + t.text + ")", "((int)" + t.text + ")",
                          "(" + t.text + " ? 1 : 0)"};
      t.text = one_of(forms);
      break;
    }
    case 4: {
      Token &t = any(directive);
      if (t.text.rfind("#pragma ", 0) != 0) break;
      for (const std::string &step : kSteps)
        if (const auto at = t.text.find(step); at != std::string::npos) {
          t.text.replace(at, step.size(), one_of(kSteps));
          return text_of(tokens, 0, tokens.size());
        }
      const auto clause = t.text.find_last_of(" ");
      t.text = below(2) ? t.text + one_of(kClauses) : t.text.substr(0, clause) + one_of(kClauses);
      break;
    }
    default: {
      const auto statements = statements_of(tokens);
      if (statements.empty()) break;
      const auto a = statements[below(statements.size())], b = statements[below(statements.size())];
      const std::string first = text_of(tokens, a[0], a[1]), second = text_of(tokens, b[0], b[1]);
      const std::array<std::string, 3> forms{"", first + first, second + first};
      tokens[a[0]].text = forms[below(3)];
      for (std::size_t k = a[0] + 1; k < a[1]; ++k) tokens[k].text.clear();
    }
  }
  return text_of(tokens, 0, tokens.size());
}

}  // namespace cudascan::gswo::test
