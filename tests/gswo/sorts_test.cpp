// SPDX-License-Identifier: LGPL-2.1-or-later
// Sorting loops become sorting networks if the result is the same.
#include <gtest/gtest.h>

#include <random>

#include "filter.h"

namespace cudascan::gswo::test {
namespace {

/// A filter of 3x3 that sorts its samples, v[0] to v[8].
std::string source_of(const std::string &sort, const std::string &result,
                      const std::string &type = "pixel") {
  return "#include <algorithm>\ntypedef unsigned short pixel;\n"
         "void f(pixel **in, pixel **out, int h, int w) {\n  const int n = 9;\n#pragma parallel\n"
         "  {\n#pragma for nest(2)\n    for (int y = 0; y < h; y++)\n"
         "      for (int x = 0; x < w; x++) {\n        " +
         type +
         " v[9];\n        int k = 0;\n        for (int dy = -1; dy <= 1; dy++)\n"
         "          for (int dx = -1; dx <= 1; dx++) v[k++] = in[y + dy][x + dx];\n        " +
         sort + "\n        out[y][x] = " + result + ";\n      }\n  }\n}\n";
}

std::string exchange(const std::string &outer, const std::string &inner, const std::string &test,
                     const std::string &swap = "{ pixel t = v[i]; v[i] = v[j]; v[j] = t; }") {
  return "for (" + outer + ") for (" + inner + ") if (" + test + ") " + swap;
}

struct Code {
  std::string name, sort, result = "v[4]", type = "pixel";
  friend std::ostream &operator<<(std::ostream &o, const Code &c) { return o << c.name; }
};

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
    {"changes", "for (" + kOuter + ") for (" + kInner +
                    ") { v[j] ^= 1; if (v[i] > v[j]) { pixel t = v[i]; v[i] = v[j]; v[j] = t; } }"},
};

std::string translated(const Folder &folder, const Code &code) {
  const std::string path = folder / (code.name + ".cpp");
  write(path, source_of(code.sort, code.result, code.type));
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
}

/// Code after a sort still has the user's line number in messages.
TEST(GswoSorts, KeepTheLines) {
  const Folder folder;
  std::string sort = exchange(kOuter, kInner, "v[i] > v[j]");
  for (std::size_t at = 0; (at = sort.find(") ", at)) != std::string::npos; ++at)
    sort[at + 1] = '\n';
  std::string text = source_of(sort + "\nif (v[0] > 3) last = v[0];", "last");
  text.insert(text.find("#pragma parallel"), "pixel last = 0;\n");
  const std::string path = folder / "lines.cpp";
  write(path, text);
  const auto line = 1 + std::count(text.begin(), text.begin() + text.find("out[y][x]"), '\n');
  const std::string errors = translate({path}).errors;
  EXPECT_NE(errors.find(path + ":" + std::to_string(line) + ":"), std::string::npos) << errors;
}

/// A filter with all kinds of sorts, each for an array of its own.
TEST(GswoSorts, GiveTheSamePixels) {
  const Folder folder;
  std::string arrays, fills, sorts, sum = "0";
  int number = 0;
  for (const Code &code : kSorts) {
    const std::string name = "v" + std::to_string(number++);
    const auto renamed = [&](std::string text) {
      for (std::size_t at = 0; (at = text.find("v[", at)) != std::string::npos; at += name.size())
        text.replace(at, 1, name);
      return text;
    };
    arrays += code.type + " " + name + "[9];\n";
    fills += name + "[k] = in[y + dy][x + dx] * " + std::to_string(2 * number + 1) + ";\n";
    sorts += renamed(code.sort) + "\n";
    sum += " * 31 + (" + renamed(code.result) + ")";
  }
  const std::string path = folder / "all.cpp";
  write(path,
        "#include <algorithm>\ntypedef unsigned short pixel;\n"
        "extern \"C\" void f(pixel **in, pixel **out, int h, int w) {\n  const int n = 9;\n"
        "#pragma parallel\n  {\n#pragma for nest(2)\n    for (int y = 0; y < h; y++)\n"
        "      for (int x = 0; x < w; x++) {\n" +
            arrays +
            "int k = 0;\nfor (int dy = -1; dy <= 1; dy++)\nfor (int dx = -1; dx <= 1; dx++) {\n" +
            fills + "k++;\n}\n" + sorts + "const unsigned sum = n + " + sum +
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
