// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gswo/pragmas.h"

#include <clang/Lex/Lexer.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <optional>

namespace cudascan::gswo {

namespace {

using Words = std::vector<std::string>;

std::string lower(std::string s) {
  for (char &c : s) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return s;
}

/// Levenshtein's distance, to find misspelt pragmas.
std::size_t distance(const std::string &a, const std::string &b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t k = 0; k <= b.size(); ++k) row[k] = k;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t k = 1; k <= b.size(); ++k) {
      const std::size_t changed = diagonal + (a[i - 1] != b[k - 1]);
      diagonal = row[k];
      row[k] = std::min({row[k] + 1, row[k - 1] + 1, changed});
    }
  }
  return row[b.size()];
}

struct MemoryPragma {
  const char *name;
  std::size_t fewest, most;  ///< arguments
  const char *form;
};
constexpr std::array<MemoryPragma, 6> kMemoryPragmas{{
    {"copybytexture", 6, 6, "copyByTexture(D, toDevice, N, M, Bind, type)"},
    {"copymalloc1darray", 5, 6, "copyMalloc1DArray(W, toDevice, I, J, pitch[, InKernel])"},
    {"copymemcpy2d", 6, 6, "copyMemcpy2D(W, HosttoDevice or DevicetoHost, I, J, pitch, W_1D)"},
    {"copymemcpy2dtoarray", 5, 5, "copyMemcpy2DToArray(W, DevicetoDevice, I, J, pitch)"},
    {"copybindtexture", 5, 5, "copyBindTexture(W, DevicetoDevice, W, type, Bind)"},
    {"copy2darrayto1darray", 6, 6, "copy2DArrayTo1DArray(W, toHost, I, J, W_1D, 2DTo1D or 1DTo2D)"},
}};

class Reader {
 public:
  explicit Reader(Source &source) : source_(source) { result_.plain = source.text(); }

  Annotations read() {
    lex();
    for (std::size_t k = 0; k < result_.tokens.size(); ++k)
      if (result_.tokens[k].kind == clang::tok::hash && result_.tokens[k].line_start) directive(k);
    for (std::size_t k = 0; k < result_.pragmas.size(); ++k) find_block(k);
    return std::move(result_);
  }

 private:
  void lex() {
    clang::LangOptions language;
    language.CPlusPlus = language.CPlusPlus11 = language.LineComment = true;
    language.Digraphs = true;
    const char *text = source_.text().data();
    clang::Lexer lexer(clang::SourceLocation(), language, text, text, text + source_.text().size());
    clang::Token token;
    for (bool last = false; !last;) {
      last = lexer.LexFromRawLexer(token);
      if (token.is(clang::tok::eof)) break;
      const auto end = static_cast<unsigned>(lexer.getBufferLocation() - text);
      result_.tokens.push_back(
          {end - token.getLength(), end, token.isAtStartOfLine(), token.getKind()});
    }
  }

  std::string text(std::size_t token) const {
    const Token &t = result_.tokens[token];
    return source_.text().substr(t.begin, t.end - t.begin);
  }

  /// The directive whose '#' is token `first`.
  void directive(std::size_t first) {
    std::vector<Token> &tokens = result_.tokens;
    std::size_t end = first + 1;
    while (end < tokens.size() && !tokens[end].line_start) ++end;
    while (const std::size_t clause = clause_line(first, end)) end = clause;
    for (std::size_t k = first; k < end; ++k) tokens[k].directive = true;
    if (end - first < 2) return;
    const std::string word = text(first + 1);
    if (word == "if" || word == "ifdef" || word == "ifndef") {
      skipped_.push_back(word == "if" && end - first == 3 && text(first + 2) == "0");
    } else if (!skipped_.empty() && (word == "else" || word == "elif")) {
      skipped_.back() = false;
    } else if (!skipped_.empty() && word == "endif") {
      skipped_.pop_back();
    }
    if (std::find(skipped_.begin(), skipped_.end(), true) != skipped_.end()) return;
    if (word == "pragma" && end - first > 2) pragma(first, end);
  }

  /// The paper also prints clauses of `for` on separate lines (Table 7). Returns the end of such a
  /// line that begins at token `k`, or 0.
  std::size_t clause_line(std::size_t first, std::size_t k) const {
    if (k - first < 3 || k + 1 >= result_.tokens.size() || text(first + 1) != "pragma") return 0;
    const bool named = lower(text(first + 2)) == "gswo" && k - first > 3;
    const std::string word = lower(text(k));
    if (lower(text(first + 2 + named)) != "for" || text(k + 1) != "(" || !is_loop_clause(word))
      return 0;
    for (++k; k < result_.tokens.size() && !result_.tokens[k].line_start;) ++k;
    return k;
  }

  void pragma(std::size_t first, std::size_t end) {
    Words words;
    for (std::size_t k = first + 2; k < end; ++k) words.push_back(text(k));
    const std::size_t at = result_.tokens[first].begin;
    Pragma p;
    p.begin = result_.tokens[first].begin;
    p.end = result_.tokens[end - 1].end;
    const bool brace = words.back() == "{";
    if (brace) words.pop_back();
    const bool named = !words.empty() && lower(words[0]) == "gswo";
    if (named) words.erase(words.begin());
    if (words.empty()) {
      if (named) source_.error(at, "'#pragma gswo' is incomplete; write parallel, for ...");
      return;
    }
    std::size_t used = 1;
    if (!recognise(p, words, used, named, at)) return;
    if (p.kind == PragmaKind::memory) {
      if (!memory_arguments(p, words, at)) return;
    } else if (!clauses(p, words, used, at)) {
      return;
    }
    std::string &plain = result_.plain;
    for (unsigned k = p.begin; k < p.end; ++k)
      if (plain[k] != '\n' && plain[k] != '\r') plain[k] = ' ';
    if (brace) {
      Token &token = result_.tokens[end - 1];
      token.directive = false;
      plain[token.begin] = '{';
      p.end = token.begin;
    }
    result_.pragmas.push_back(p);
    behind_.push_back(brace ? end - 1 : end);
  }

  /// Sets the kind; false for pragmas of other tools and after an error.
  bool recognise(Pragma &p, const Words &words, std::size_t &used, bool named, std::size_t at) {
    const std::string word = lower(words[0]);
    if (word == "parallel") {
      p.kind = PragmaKind::parallel;
      if (words.size() > 1 && lower(words[1]) == "region") p.kind = PragmaKind::region, used = 2;
      return true;
    }
    if (word == "for") return p.kind = PragmaKind::loop, true;
    if (word == "single") {
      const std::string what = words.size() > 1 ? lower(words[1]) : "";
      used = 2;
      if (what == "initialisation" || what == "initialization")
        p.kind = PragmaKind::initialisation;
      else if (what == "transfer")
        p.kind = PragmaKind::transfer;
      else if (what == "remain")
        p.kind = PragmaKind::remain;
      else if (what == "assign")
        p.kind = PragmaKind::assign;
      else
        return source_.error(at, "unknown pragma 'single " + what +
                                     "'; write initialisation, transfer, remain or assign"),
               false;
      return true;
    }
    for (const MemoryPragma &m : kMemoryPragmas)
      if (word == m.name) return p.kind = PragmaKind::memory, p.name = word, true;
    if (named) {
      source_.error(at, "unknown pragma 'gswo " + words[0] +
                            "'; write parallel, parallel region, for, single or copy...");
      return false;
    }
    Words known{"parallel", "single"};
    for (const MemoryPragma &m : kMemoryPragmas) known.push_back(m.name);
    for (const std::string &k : known)
      if (distance(word, k) <= 2)
        source_.error(at, "unknown pragma '" + words[0] + "'; did you mean '" + k + "'?");
    return false;
  }

  /// The arguments in parentheses at `k`; moves `k` past them.
  static std::optional<Words> parenthesised(const Words &words, std::size_t &k) {
    if (k >= words.size() || words[k] != "(") return {};
    Words list;
    std::string now;
    int depth = 1;
    for (++k; k < words.size(); ++k) {
      if (words[k] == "(") ++depth;
      if (words[k] == ")" && --depth == 0) break;
      if (words[k] == "," && depth == 1) {
        list.push_back(std::move(now));
        now.clear();
      } else {
        now += (now.empty() ? "" : " ") + words[k];
      }
    }
    if (depth) return {};
    ++k;
    list.push_back(std::move(now));
    return list;
  }

  bool memory_arguments(Pragma &p, const Words &words, std::size_t at) {
    std::size_t k = 1;
    auto list = parenthesised(words, k);
    for (const MemoryPragma &m : kMemoryPragmas)
      if (p.name == m.name) {
        const bool right = list && k == words.size() && list->size() >= m.fewest &&
                           list->size() <= m.most &&
                           std::find(list->begin(), list->end(), "") == list->end();
        if (!right) return source_.error(at, std::string("write ") + m.form), false;
      }
    p.arguments = std::move(*list);
    return true;
  }

  bool clauses(Pragma &p, const Words &words, std::size_t k, std::size_t at) {
    while (k < words.size()) {
      const std::string clause = lower(words[k]);
      if (p.kind == PragmaKind::region && clause == "scratch") {
        const auto list = parenthesised(words, ++k);
        if (!list || std::find(list->begin(), list->end(), "") != list->end())
          return source_.error(at, "write scratch(a, b) with the names of images"), false;
        p.scratch.insert(p.scratch.end(), list->begin(), list->end());
        continue;
      }
      if (p.kind != PragmaKind::loop || !is_loop_clause(clause))
        return source_.error(at, "'" + words[k] + "' is not known here; " +
                                     (p.kind == PragmaKind::loop
                                          ? "'for' takes nest(2), tile(x, y), chunksize(x, y) and "
                                            "reduction(+:n)"
                                      : p.kind == PragmaKind::region
                                          ? "'parallel region' takes scratch(image, ...)"
                                          : "this pragma has no clauses")),
               false;
      ++k;
      const auto list = parenthesised(words, k);
      if (clause == "reduction") {
        if (!list || !reduction(p, *list))
          return source_.error(at,
                               "write reduction(+:sum), reduction(max:highest) or "
                               "reduction(+:histogram[:256]); operations are +, &, |, ^, &&, ||, "
                               "min and max"),
                 false;
      } else if (!list || !numbers(p, clause, *list, at)) {
        if (!list) source_.error(at, "'" + clause + "' needs numbers in parentheses");
        return false;
      }
    }
    if (p.nest == 2 && (p.tile[2] > 1 || p.chunk[2] > 1))
      return source_.error(at, "tile and chunksize have a third number only with nest(3)"), false;
    return true;
  }

  static bool is_loop_clause(const std::string &word) {
    return word == "nest" || word == "tile" || word == "chunksize" || word == "reduction";
  }

  /// Reads `operation : name, name[:length], ...`.
  static bool reduction(Pragma &p, Words list) {
    const std::size_t colon = list[0].find(" : ");
    if (colon == std::string::npos) return false;
    const std::string operation = lower(list[0].substr(0, colon));
    constexpr std::array kOperations{"+", "&", "|", "^", "&&", "||", "min", "max"};
    if (std::find(kOperations.begin(), kOperations.end(), operation) == kOperations.end())
      return false;
    list[0].erase(0, colon + 3);
    for (const std::string &item : list) {
      ReductionClause r{operation, item, {}};
      if (const std::size_t bracket = item.find(" [ "); bracket != std::string::npos) {
        const std::string section = item.substr(bracket + 3);
        const std::size_t skip = section.rfind(": ", 0) == 0     ? 2
                                 : section.rfind("0 : ", 0) == 0 ? 4
                                                                 : 0;
        if (!skip || section.size() < skip + 3 || section.substr(section.size() - 2) != " ]")
          return false;
        r.name = item.substr(0, bracket);
        r.length = section.substr(skip, section.size() - skip - 2);
      }
      if (r.name.empty() || r.name.find(' ') != std::string::npos) return false;
      p.reductions.push_back(std::move(r));
    }
    return true;
  }

  bool numbers(Pragma &p, const std::string &clause, const Words &list, std::size_t at) {
    if (clause == "nest") {
      if (list.size() == 1 && (list[0] == "2" || list[0] == "3" || lower(list[0]) == "all"))
        return p.nest = list[0] == "3" ? 3 : 2, true;
      return source_.error(at,
                           "windows cover two loops, rows and columns, or three; write nest(2) or "
                           "nest(3) and put other loops around the block of 'parallel'"),
             false;
    }
    std::array<int, 3> &value = clause == "tile" ? p.tile : p.chunk;
    value = {1, 1, 1};
    bool right = !list.empty() && list.size() <= 3;
    for (std::size_t k = 0; right && k < list.size(); ++k) {
      char *rest = nullptr;
      const long number = std::strtol(list[k].c_str(), &rest, 10);
      right = !list[k].empty() && !*rest && number >= 1 && number <= 1024;
      value[k] = static_cast<int>(number);
    }
    if (!right)
      return source_.error(at, "write " + clause + "(x, y), or " + clause +
                                   "(x, y, z) with nest(3), with whole numbers from 1 to 1024"),
             false;
    return true;
  }

  /// The block or statement after a pragma.
  void find_block(std::size_t index) {
    using namespace clang::tok;
    const std::vector<Token> &tokens = result_.tokens;
    Pragma &p = result_.pragmas[index];
    if (p.kind == PragmaKind::loop || p.kind == PragmaKind::memory) return;
    std::size_t k = behind_[index];
    while (k < tokens.size() && tokens[k].directive) ++k;
    if (k >= tokens.size()) return source_.error(p.begin, "nothing follows this pragma");
    p.open = tokens[k].begin;
    p.braces = tokens[k].kind == l_brace;
    int depth = 0;
    for (; k < tokens.size(); ++k) {
      if (tokens[k].directive) continue;
      const TokenKind kind = tokens[k].kind;
      if (kind == l_brace || (!p.braces && kind == l_paren)) ++depth;
      if ((kind == r_brace || (!p.braces && kind == r_paren)) && --depth < 0) break;
      if (depth == 0 && kind == (p.braces ? r_brace : semi)) break;
      if (depth == 0 && kind == r_brace && !goes_on(k + 1)) break;
    }
    if (k >= tokens.size() || depth < 0)
      return source_.error(p.begin, "the block of this pragma is not closed; add a '}'");
    p.close = tokens[k].end - 1;
    if (p.kind == PragmaKind::initialisation && p.braces)
      result_.plain[p.open] = result_.plain[p.close] = ' ';
  }

  /// Whether a statement does not end with the '}' before token `k`.
  bool goes_on(std::size_t k) const {
    return k < result_.tokens.size() &&
           (result_.tokens[k].kind == clang::tok::semi || text(k) == "else");
  }

  Source &source_;
  Annotations result_;
  std::vector<std::size_t> behind_;  // for each pragma, the token after it
  std::vector<bool> skipped_;        // for each open #if, whether it is `#if 0`
};

}  // namespace

Annotations read_pragmas(Source &source) {
  return Reader(source).read();
}

}  // namespace cudascan::gswo
