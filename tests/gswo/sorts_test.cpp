// SPDX-License-Identifier: LGPL-2.1-or-later
// Sorting loops become sorting networks if the result is the same.
#include <gtest/gtest.h>

#include <random>

#include "filter.h"

namespace cudascan::gswo::test {
namespace {

const std::string kRows = "for (int dy = -1; dy <= 1; dy++) for (int dx = -1; dx <= 1; dx++) ";
/// As samples come, keeps those in v sorted.
const std::string kInserts =
    kRows +
    "{ const pixel s = in[y + dy][x + dx]; int j = k++; while (j > 0 && v[j - 1] > s) "
    "{ v[j] = v[j - 1]; j--; } v[j] = s; }";
/// Sorts v.
const std::string kInsertions =
    "for (int i = 1; i < n; i++) { pixel t = v[i]; int j = i - 1; "
    "while (j >= 0 && v[j] > t) { v[j + 1] = v[j]; j--; } v[j + 1] = t; }";

struct Code {
  std::string name, sort, result = "v[4]", type = "pixel";
  /// Sets v[0] to v[8]; k is 0.
  std::string fill = kRows + "v[k++] = in[y + dy][x + dx];";
  friend std::ostream &operator<<(std::ostream &o, const Code &c) { return o << c.name; }
};

/// A filter of 3x3 that sorts its samples.
std::string source_of(const Code &code) {
  return "#include <algorithm>\ntypedef unsigned short pixel;\n"
         "#define INSERT(to) to[j] = s;\nvoid f(pixel **in, pixel **out, int h, int w) {\n  const "
         "int n = 9;\n#pragma parallel\n"
         "  {\n#pragma for nest(2)\n    for (int y = 0; y < h; y++)\n"
         "      for (int x = 0; x < w; x++) {\n        " +
         code.type + " v[9];\n        int k = 0;\n        " + code.fill + "\n        " + code.sort +
         "\n        out[y][x] = " + code.result + ";\n      }\n  }\n}\n";
}

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

std::string exchange(const std::string &outer, const std::string &inner, const std::string &test,
                     const std::string &swap = "{ pixel t = v[i]; v[i] = v[j]; v[j] = t; }") {
  return "for (" + outer + ") for (" + inner + ") if (" + test + ") " + swap;
}

const std::string kOuter = "int i = 0; i < n; i++", kInner = "int j = i + 1; j < n; j++";
const std::string kNeighbours = "{ pixel t = v[j]; v[j] = v[j + 1]; v[j + 1] = t; }";

const Code kSorts[] = {
    {"all", exchange(kOuter, kInner, "v[i] > v[j]"), "v[8] - v[0]"},
    {"but_one", exchange("int i = 0; i < n - 1; ++i", kInner, "v[j] < v[i]"), "v[8] - v[0]"},
    {"half", exchange("int i = 0; i <= n / 2; i++", kInner, "v[i] > v[j]"), "v[4] - v[3]"},
    {"wider", exchange(kOuter, kInner, "v[i] > v[j]", "{ int t = v[j]; v[j] = v[i]; v[i] = t; }")},
    {"library", exchange(kOuter, kInner, "v[i] > v[j]", "std::swap(v[i], v[j]);")},
    {"braces", "for (" + kOuter + ") { for (" + kInner +
                   ") { if (v[i] > v[j]) { const pixel t = "
                   "v[j];\n v[j] = v[i];\n v[i] = t; } } }"},
    {"signed_numbers",
     exchange(kOuter, kInner, "v[i] > v[j]", "{ int t = v[i]; v[i] = v[j]; v[j] = t; }"), "v[4]",
     "int"},
    {"neighbours", exchange("int i = 1; i < n; i++", "int j = 0; j < n - 1; j++", "v[j] > v[j + 1]",
                            kNeighbours)},
    {"bubbles", exchange("int i = 0; i < n - 1; i++", "int j = 0; j < n - 1 - i; j++",
                         "v[j] > v[j + 1]", kNeighbours)},
    {"other_bubbles", exchange("int i = 0; i < n; i++", "int j = 0; j < n - i - 1; j++",
                               "v[j + 1] < v[j]", kNeighbours)},
    {"insertions", kInsertions, "v[4] + v[8] - v[0]"},
    {"insertions_from_0",
     "for (int i = 0; i < n; i++) { int j = i; const int t = v[i]; "
     "while (j != 0 && t <= v[j - 1]) { v[j] = v[j - 1]; --j; } v[j] = t; }"},
    {"insertions_by_for",
     "for (int i = 1; i <= 8; i++) { int j; const pixel t = v[i];\n"
     "for (j = i; j >= 1 && v[j - 1] > t; j -= 1) { v[j] = v[j - 1]; }\n v[j] = t; }"},
    {"signed_insertions",
     "for (int i = 1; i < n; i++) { const int t = v[i]; int j = i - 1; "
     "for (; j > -1 && v[j] > t; j--) v[j + 1] = v[j]; v[j + 1] = t; }",
     "v[4]", "short"},
    {"exchanges_with_those_before",
     "for (int i = 1; i < n; i++) for (int j = i; j > 0 && v[j] < v[j - 1]; j--) "
     "std::swap(v[j], v[j - 1]);"},
    {"exchanges_with_those_after",
     "for (int i = 0; i < n; i++) for (int j = i - 1; j >= 0 && v[j] > v[j + 1]; j--) " +
         kNeighbours},
    {"some_insertions", replaced(kInsertions, "i < n", "i < 6"), "v[3] + v[6]"},
    {"inserts", "", "v[4] + v[8] - v[0]", "pixel", kInserts},
    {"inserts_and_counts", "", "v[4]", "pixel",
     kRows + "{ int m = 1; const pixel s = in[y + dy][x + dx] ^ m; int j;\n"
             "for (j = k - 1; j >= 0 && s < v[j]; --j)\n v[j + 1] = v[j];\n"
             "v[j + 1] = s; ++k; }"},
    {"inserts_a_row", "", "v[1] + v[2]", "pixel",
     "for (int i = 0; i < 3; i++) { const pixel s = in[y][x + i - 1]; int j = i; "
     "while (j > 0 && v[j - 1] > s) { v[j] = v[j - 1]; j--; } v[j] = s; } k++;"},
    {"some", exchange("int i = 0; i < 7; i++", "int j = i + 1; j < 7; j++", "v[i] > v[j]"),
     "v[3] + v[8]"},
};

const Code kOthers[] = {
    {"more_is_read", exchange("int i = 0; i <= n / 2; i++", kInner, "v[i] > v[j]"), "v[5]"},
    {"anything_is_read", exchange("int i = 0; i <= n / 2; i++", kInner, "v[i] > v[j]"), "v[x % 9]"},
    {"real_numbers", exchange(kOuter, kInner, "v[i] > v[j]"), "v[4]", "float"},
    {"downwards", exchange(kOuter, kInner, "v[i] < v[j]")},
    {"narrower",
     exchange(kOuter, kInner, "v[i] > v[j]", "{ unsigned char t = v[i]; v[i] = v[j]; v[j] = t; }")},
    {"no_swap",
     exchange(kOuter, kInner, "v[i] > v[j]", "{ pixel t = v[i]; v[j] = v[i]; v[i] = t; }")},
    {"twice",
     exchange(kOuter, kInner, "v[i] > v[j]", "{ pixel t = v[i]; v[i] = v[j]; v[i] = t; }")},
    {"otherwise", exchange(kOuter, kInner, "v[i] > v[j]") + " else v[i] += 1;"},
    {"not_all", exchange(kOuter, "int j = i + 2; j < n; j++", "v[i] > v[j]")},
    {"in_steps", exchange(kOuter, "int j = i + 1; j < n; j += 2", "v[i] > v[j]")},
    {"late_bubbles", exchange("int i = 1; i < n; i++", "int j = 0; j < n - i - 1; j++",
                              "v[j] > v[j + 1]", kNeighbours)},
    {"later", exchange("int i = 1; i < n; i++", kInner, "v[i] > v[j]")},
    {"few_bubbles", exchange("int i = 0; i < 3; i++", "int j = 0; j < n - 1 - i; j++",
                             "v[j] > v[j + 1]", kNeighbours)},
    {"fast_bubbles", exchange("int i = 0; i < n - 1; i++", "int j = 0; j < n - 1 - 2 * i; j++",
                              "v[j] > v[j + 1]", kNeighbours)},
    {"outer_counter", "int i; " + exchange("i = 0; i < n; i++", kInner, "v[i] > v[j]"), "v[4] + i"},
    {"in_a_loop", "for (int turn = 0; turn < 2; turn++) { " +
                      exchange("int i = 0; i <= n / 2; i++", kInner, "v[i] > v[j]") +
                      " v[8] = 0; }"},
    {"numbers_are_places", "", "v[4] + in[y][x]", "int",
     kRows + "{ int j = k++; while (j > 0 && v[j - 1] > j) { v[j] = v[j - 1]; j--; } v[j] = j; }"},
    {"changes", "for (" + kOuter + ") for (" + kInner +
                    ") { v[j] ^= 1; if (v[i] > v[j]) { pixel t = v[i]; v[i] = v[j]; v[j] = t; } }"},
};

/// What makes an insertion sort another thing.
struct Change {
  std::string name, from, to;
};

const Change kOtherInsertions[] = {
    {"descending", "v[j] > t", "v[j] < t"},
    {"not_the_first", "j >= 0", "j > 0"},
    {"later", "i = 1", "i = 2"},
    {"every_other", "i++", "i += 2"},
    {"in_steps", "j--", "j -= 2"},
    {"upwards", "j--", "j++"},
    {"leaves_early", "j--;", "j--; if (j == 3) break;"},
    {"narrower", "pixel t", "unsigned char t"},
    {"of_other_kind", "pixel t", "float t"},
    {"without_sign", "int j", "unsigned j"},
    {"from_below", "j = i - 1", "j = i - 2"},
    {"moves_nothing", "v[j + 1] = v[j]", "v[j + 1] = v[j + 1]"},
    {"elsewhere", "v[j + 1] = t", "v[j] = t"},
    {"another_number", "v[j + 1] = t", "v[j + 1] = i"},
    {"one_of_two", "&&", "||"},
    {"and_more", "v[j + 1] = t;", "v[j + 1] = t; v[0] = 3;"},
    {"real_numbers", "pixel", "float"},
};

const Change kOtherInserts[] = {
    {"not_all", "int j", "if (dx == 1) continue; int j"},
    {"if_it_is", "{ const pixel s", "if (dx != 1) { const pixel s"},
    {"wider", "const pixel s", "const int s"},
    {"another_number", "v[j] = s", "v[j] = j"},
    {"place_is_used", "v[j] = s;", "v[j] = s; out[y][x] = j;"},
    {"numbers_are_used", "v[j] = s;", "v[j] = s; out[y][x] = v[0];"},
    {"count_is_used", "v[j] = s;", "v[j] = s; out[y][x] = k;"},
    {"count_changes", "v[j] = s;", "v[j] = s; if (k == 3) k = 2;"},
    {"counts_to_it", "k++", "++k"},
    {"does_not_count", "k++", "k"},
    {"too_many", "dx <= 1", "dx <= 2"},
    {"of_unknown_number", "dx <= 1", "dx <= y % 2"},
    {"not_from_0", "for (int dy", "k = 1; for (int dy"},
    {"once_more", "for (int dy", "for (int m = 0; m < 1; m++) v[m] = 0; for (int dy"},
    {"array_of_a_turn", "{ const pixel s", "{ pixel v[9]; const pixel s"},
    {"in_a_macro", "v[j] = s;", "INSERT(v)"},
    {"loop_changes", "v[j] = s;", "v[j] = s; dx += 0;"},
};

std::string translated(const Folder &folder, const Code &code) {
  const std::string path = folder / (code.name + ".cpp");
  write(path, source_of(code));
  const Outcome outcome = translate({path});
  EXPECT_EQ(outcome.status, 0) << code.name << "\n" << outcome.errors;
  return outcome.output;
}

TEST(GswoSorts, BecomeNetworks) {
  const Folder folder;
  for (const Code &code : kSorts)
    EXPECT_NE(translated(folder, code).find("gswo::sort_numbers<"), std::string::npos) << code;
}

TEST(GswoSorts, OtherLoopsStay) {
  const Folder folder;
  for (const Code &code : kOthers)
    EXPECT_EQ(translated(folder, code).find("gswo::sort_numbers<"), std::string::npos) << code;
  for (const Change &c : kOtherInsertions) {
    const Code code{c.name, replaced(kInsertions, c.from, c.to), "v[4]",
                    c.name == "real_numbers" ? "float" : "pixel"};
    EXPECT_EQ(translated(folder, code).find("gswo::sort_numbers<"), std::string::npos) << code;
  }
  for (const Change &c : kOtherInserts) {
    const Code code{c.name, "", "v[4]", "pixel", replaced(kInserts, c.from, c.to)};
    EXPECT_EQ(translated(folder, code).find("gswo::sort_numbers<"), std::string::npos) << code;
  }
}

/// Code after a sort still has the user's line number in messages.
TEST(GswoSorts, KeepTheLines) {
  const Folder folder;
  const std::string use = "\nif (v[0] > 3) last = v[0];";
  for (Code code : {Code{"sort", exchange(kOuter, kInner, "v[i] > v[j]") + use, "last"},
                    Code{"insertions", kInsertions + use, "last"},
                    Code{"inserts", use, "last", "pixel", kInserts}}) {
    for (std::string *text : {&code.sort, &code.fill}) *text = replaced(*text, ") ", ")\n");
    std::string text = source_of(code);
    text.insert(text.find("#pragma parallel"), "pixel last = 0;\n");
    const std::string path = folder / "lines.cpp";
    write(path, text);
    const auto line = 1 + std::count(text.begin(), text.begin() + text.find("out[y][x]"), '\n');
    const std::string errors = translate({path}).errors;
    EXPECT_NE(errors.find(path + ":" + std::to_string(line) + ":"), std::string::npos) << errors;
  }
}

/// A filter with all kinds of sorts, each for an array of its own.
TEST(GswoSorts, GiveTheSamePixels) {
  const Folder folder;
  std::string code, sum = "0";
  int number = 0;
  for (const Code &c : kSorts) {
    const std::string n = std::to_string(number++), times = " * " + n + " + 1";
    const auto renamed = [&](std::string text) {
      // Other samples for each array.
      for (const std::string sample : {"in[y + dy][x + dx]", "in[y][x + i - 1]"})
        text = replaced(text, sample, "(" + sample + times + ")");
      return replaced(replaced(replaced(text, "v[", "v" + n + "["), "k++", "k" + n + "++"), "k - 1",
                      "k" + n + " - 1");
    };
    code += c.type + " v" + n + "[9];\nint k" + n + " = 0;\n" +
            replaced(renamed(c.fill), "++k;", "++k" + n + ";") + "\n" + renamed(c.sort) + "\n";
    sum += " * 31 + (" + renamed(c.result) + ")";
  }
  const std::string path = folder / "all.cpp";
  write(path,
        "#include <algorithm>\ntypedef unsigned short pixel;\n"
        "extern \"C\" void f(pixel **in, pixel **out, int h, int w) {\n  const int n = 9;\n"
        "#pragma parallel\n  {\n#pragma for nest(2)\n    for (int y = 0; y < h; y++)\n"
        "      for (int x = 0; x < w; x++) {\n" +
            code + "const unsigned sum = n + " + sum +
            ";\nout[y][x] = sum ^ sum >> 16;\n}\n}\n}\n");
  const std::string plain = folder / "plain.cpp";
  ASSERT_EQ(translate({path, "--emit", "plain", "-o", plain}).status, 0);
  Library user(plain, {"-w"}, folder);
  const Filter filter({path, {}, "unsigned short", 4, true});

  constexpr int kWidth = 67, kHeight = 37;
  Picture picture(kWidth, kHeight, 2);
  std::vector<unsigned short> in((kWidth + 2) * (kHeight + 2), 9), out(in);
  std::vector<unsigned short *> in_rows, out_rows;
  for (int y = 0; y < kHeight + 2; ++y) {
    in_rows.push_back(&in[y * (kWidth + 2) + 1]);
    out_rows.push_back(&out[y * (kWidth + 2) + 1]);
  }
  std::mt19937 random(1);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x)
      // The upper half has many equal pixels.
      in_rows[y + 1][x] = picture.at<unsigned short>(x, y) =
          y < kHeight / 2 ? random() % 4 : random() % 65536;
  user.function<void(unsigned short **, unsigned short **, int, int)>("f")(
      in_rows.data() + 1, out_rows.data() + 1, kHeight, kWidth);
  for (const bool emulated : {false, true}) {
    Picture result = filter.run(picture, {}, emulated);
    int wrong = 0;
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x)
        wrong += result.at<unsigned short>(x, y) != out_rows[y + 1][x];
    EXPECT_EQ(wrong, 0) << (emulated ? "emulated" : "CPU");
  }
}

}  // namespace
}  // namespace cudascan::gswo::test
