// SPDX-License-Identifier: LGPL-2.1-or-later
// The manifest of translated files.
#include "kernels/usercode/manifest.h"

#include <gtest/gtest.h>

#include <climits>
#include <cmath>
#include <cstring>
#include <random>
#include <sstream>

#include "tests/usercode/pragmas.h"

namespace cudascan::gswo {

namespace step {
static bool operator==(const Argument &a, const Argument &b) {
  return a.is_image == b.is_image && a.number == b.number && a.is_read == b.is_read;
}
}  // namespace step

namespace {

using namespace cudascan::test;
using Lines = std::vector<std::string>;
using Place = ManifestImage::Place;
using Role = ManifestScalar::Role;

std::string joined(const Lines &lines) {
  std::string text;
  for (const std::string &line : lines) text += line + '\n';
  return text;
}

/// A manifest with every kind of line.
const Lines kLines = {
    "// A file.",
    "//@gswo manifest 1",
    "//@gswo function blur",
    "//@gswo constant win 5",
    "//@gswo scalar h height : int",
    "//@gswo scalar w width : unsigned long",
    "//@gswo scalar gain value 2.5 : float",
    "//@gswo scalar n value : int",
    "//@gswo scalar pass turn : int",
    "//@gswo image in source : float",
    "//@gswo image a scratch : unsigned char",
    "//@gswo image out destination : float",
    "//@gswo copy blur_c0 in a",
    "//@gswo clear a",
    "//@gswo repeat -1 n turn pass 3 -2",
    "//@gswo kernel blur_k0 block 32 8 tile 64 16 origin 1 -2 lead 3 4 shared 700",
    "//@gswo read in -1 1 -2 2",
    "//@gswo read a 0 0 0 0 unbounded",
    "//@gswo write out",
    "//@gswo value gain",
    "//@gswo launch",
    "//@gswo swap a out",
    "//@gswo end",
    "//@gswo done",
    "code();"};

TEST(GswoManifest, HasTheLines) {
  EXPECT_TRUE(has_manifest(joined(kLines)));
  EXPECT_TRUE(has_manifest("//@gswo manifest 1\n"));
  EXPECT_FALSE(has_manifest("int x; //@gswo manifest 1\n"));
  EXPECT_FALSE(has_manifest("#pragma gswo parallel\n"));

  const auto functions = parse_manifest("f.cu", joined(kLines));
  ASSERT_EQ(functions.size(), 1u);
  const ManifestFunction &f = functions[0];
  EXPECT_EQ(f.name, "blur");
  ASSERT_EQ(f.constants.size(), 1u);
  EXPECT_EQ(f.constants[0].name, "win");
  EXPECT_EQ(f.constants[0].value, 5);
  EXPECT_TRUE(f.unused.empty());
  ASSERT_EQ(f.scalars.size(), 5u);
  EXPECT_EQ(f.scalars[0].role, Role::height);
  EXPECT_EQ(f.scalars[1].role, Role::width);
  EXPECT_EQ(f.scalars[1].type, "unsigned long");
  EXPECT_EQ(f.scalars[2].name, "gain");
  EXPECT_EQ(f.scalars[2].role, Role::value);
  EXPECT_EQ(f.scalars[2].otherwise, 2.5);
  EXPECT_EQ(f.scalars[3].otherwise, std::nullopt);
  EXPECT_EQ(f.scalars[4].role, Role::turn);
  ASSERT_EQ(f.images.size(), 3u);
  EXPECT_EQ(f.images[0].place, Place::source);
  EXPECT_EQ(f.images[1].place, Place::scratch);
  EXPECT_EQ(f.images[1].type, "unsigned char");
  EXPECT_EQ(f.images[2].place, Place::destination);

  ASSERT_EQ(f.steps.size(), 5u);
  const auto &copies = std::get<step::Kernel>(f.steps[0]);
  EXPECT_EQ(copies.name, "blur_c0");
  EXPECT_EQ(copies.arguments, (std::vector<step::Argument>{{true, 0, true}, {true, 1}}));
  EXPECT_EQ(std::get<step::Clear>(f.steps[1]).image, 1);
  const auto &repeat = std::get<step::Repeat>(f.steps[2]);
  EXPECT_EQ(repeat.count, -1);
  EXPECT_EQ(repeat.scalar, 3);
  EXPECT_EQ(repeat.turn, 4);
  EXPECT_EQ(repeat.first, 3);
  EXPECT_EQ(repeat.difference, -2);
  EXPECT_EQ(repeat.end, 5u);
  const auto &kernel = std::get<step::Kernel>(f.steps[3]);
  EXPECT_EQ(kernel.name, "blur_k0");
  EXPECT_EQ(kernel.block, (std::array<int, 2>{32, 8}));
  EXPECT_EQ(kernel.tile, (std::array<int, 2>{64, 16}));
  EXPECT_EQ(kernel.origin, (std::array<int, 2>{1, -2}));
  EXPECT_EQ(kernel.lead, (std::array<int, 2>{3, 4}));
  EXPECT_EQ(kernel.arguments,
            (std::vector<step::Argument>{{true, 0, true}, {true, 1, true}, {true, 2}, {false, 2}}));
  EXPECT_EQ(std::get<step::Swap>(f.steps[4]).second, 2);
}

TEST(GswoManifest, LinesCanEndWithCarriageReturns) {
  std::string text;
  for (const std::string &line : kLines) text += line + "\r\n";
  EXPECT_EQ(parse_manifest("f.cu", text)[0].images[2].type, "float");
}

TEST(GswoManifest, HasSeveralFunctions) {
  Lines lines = kLines;
  lines.insert(lines.end(), {"//@gswo function second", "//@gswo image o destination : int",
                             "//@gswo clear o", "//@gswo done"});
  const auto functions = parse_manifest("f.cu", joined(lines));
  ASSERT_EQ(functions.size(), 2u);
  EXPECT_EQ(functions[1].name, "second");
  EXPECT_EQ(functions[1].images.size(), 1u);
}

struct Broken {
  int line;          // the replaced line of the text, from 1
  std::string text;  // the new line; "" removes it
  std::string said;  // part of the message
  int at = 0;        // line in the message, if it differs
};

const Broken kBroken[] = {
    {2, "//@gswo manifest 2", "version 2 is not supported, only version 1"},
    {2, "//@gswo manifest one", "'one' is not a whole number"},
    {2, "//@gswo manifest", "'' is not a whole number"},
    {2, "//@gswo manifest 1 1", "'1' is too much"},
    {2, "", "'manifest' is missing"},
    {2, "//@gswo manifest 99999999999999999999", "is not a whole number"},
    {3, "", "'constant' is outside of a function", 3},
    {3, "//@gswo function", "the name of a function is missing"},
    {3, "//@gswo function a b", "'b' is too much"},
    {3, "//@gswo funktion blur", "'funktion' is outside of a function"},
    {4, "//@gswo constant", "the name of a constant is missing"},
    {4, "//@gswo", "is not known"},
    {4, "//@gswo\tconstant", "the name of a constant is missing"},
    {4, "//@gswo function other", "the previous function has no 'done'"},
    {5, "//@gswo scalar h hight : int", "'hight' is not a role of a scalar"},
    {5, "//@gswo scalar h", "'' is not a role of a scalar"},
    {5, "//@gswo scalar h height", "is not a number"},
    {5, "//@gswo scalar h height :", "'' is not an arithmetic type"},
    {5, "//@gswo scalar h height : Int", "'Int' is not an arithmetic type"},
    {5, "//@gswo scalar h height : int int", "'int int' is not an arithmetic type"},
    {5, "//@gswo scalar h height : float *", "'float *' is not an arithmetic type"},
    {7, "//@gswo scalar gain value 2,5 : float", "'2,5' is not a number"},
    {7, "//@gswo scalar gain value 1e999 : float", "'1e999' is not a number"},
    {7, "//@gswo scalar gain value 2.5 float", "is not an arithmetic type"},
    {7, "//@gswo scalar gain value nan : float", "'nan' is not a number"},
    {10, "//@gswo image in sauce : float", "unknown image location 'sauce'"},
    {10, "//@gswo image in source : void", "'void' is not an arithmetic type"},
    {10, "", "'in' is not declared above", 12},
    {12, "//@gswo image out source : float", "a filter has one input and one output", 24},
    {11, "//@gswo image a destination : float", "a filter has one input and one output", 24},
    {13, "//@gswo copy blur_c0 in", "'' is not declared above"},
    {13, "//@gswo copy blur_c0 in b", "'b' is not declared above"},
    {13, "//@gswo copy blur_c0 in a a", "'a' is too much"},
    {14, "//@gswo clear gain", "'gain' is not declared above"},
    {14, "//@gswo erase a", "'erase' is not known"},
    {15, "//@gswo repeat many n", "'many' is not a whole number"},
    {15, "//@gswo repeat 1 m", "'m' is not declared above"},
    {15, "//@gswo repeat 2000000 -", "is not in the range"},
    {15, "//@gswo repeat 1 n turns pass 0 1", "'turns' is too much"},
    {15, "//@gswo repeat 1 n turn pass 0", "'' is not a whole number"},
    {15, "//@gswo repeat 1 n turn a 0 1", "'a' is not declared above"},
    {15, "", "there is no repeat to end", 22},
    {16, "//@gswo kernel block 32 8", "'block' is missing"},
    {16, "//@gswo kernel k block 0 8 tile 1 1 origin 0 0 lead 0 0 shared 0",
     "0 is not in the range 1"},
    {16, "//@gswo kernel k block 64 32 tile 64 32 origin 0 0 lead 0 0 shared 0", "too large"},
    {16, "//@gswo kernel k block 32 8 tile 0 8 origin 0 0 lead 0 0 shared 0",
     "0 is not in the range 1"},
    {16, "//@gswo kernel k block 32 8 tile 40000 8 origin 0 0 lead 0 0 shared 0",
     "40000 is not in the range 1 to 32768"},
    {16, "//@gswo kernel k block 32 8 tile 32 8 origin 0 lead 0 0 shared 0",
     "'lead' is not a whole number"},
    {16, "//@gswo kernel k block 32 8 tile 32 8 origin 0 999999999 lead 0 0 shared 0",
     "999999999 is not in the range"},
    {16, "//@gswo kernel k block 32 8 tile 32 8 origin 0 0 lead 99999 0 shared 0",
     "99999 is not in the range"},
    {16, "//@gswo kernel k block 32 8 tile 32 8 origin 0 0 lead 0 0", "'shared' is missing"},
    {16, "", "'read' is not known", 16},
    {17, "//@gswo read b 0 0 0 0", "'b' is not declared above"},
    {17, "//@gswo read in 0 0 0", "'' is not a whole number"},
    {17, "//@gswo read in 0 0 0 0 bounded", "'bounded' is too much"},
    {19, "//@gswo write", "'' is not declared above"},
    {20, "//@gswo value out", "'out' is not declared above"},
    {20, "//@gswo texture out", "'texture' is not an argument of a kernel"},
    {21, "", "'swap' is not an argument of a kernel", 21},
    {21, "//@gswo launch 3", "'3' is too much"},
    {22, "//@gswo swap a", "'' is not declared above"},
    {23, "", "a repeat has no end", 23},
    {24, "", "the manifest ends within a function", 24},
    {25, "//@gswo clear a", "'clear' is outside of a function"},
    {25, "//@gswo function second", "the manifest ends within a function"},
};

Lines with(const Broken &broken) {
  Lines lines = kLines;
  if (broken.text.empty())
    lines.erase(lines.begin() + broken.line - 1);
  else
    lines[broken.line - 1] = broken.text;
  return lines;
}

TEST(GswoManifest, BrokenLinesAreRefused) {
  for (const Broken &broken : kBroken) {
    SCOPED_TRACE(testing::Message() << broken.line << ": " << broken.text);
    const std::string said =
        message_of<BadSetting>([&] { parse_manifest("dir/f.cu", joined(with(broken))); });
    const int at = broken.at ? broken.at : broken.line;
    EXPECT_TRUE(said.starts_with("dir/f.cu:" + std::to_string(at) + ": error: ")) << said;
    EXPECT_TRUE(has(said, broken.said));
    EXPECT_TRUE(has(said, "translate the source again"));
  }
}

/// The message is about the source, as its author does not see the manifest.
TEST(GswoManifest, SecondInputsAreRefused) {
  Lines lines = kLines;
  lines[9] = "//@gswo image in other : float";
  EXPECT_EQ(message_of<BadSetting>([&] { parse_manifest("dir/f.cpp", joined(lines)); }),
            "dir/f.cpp: error: 'in' is a second input of blur, but there is only one frame; write "
            "it in an earlier kernel, or read one image");
}

TEST(GswoManifest, KnowsAllParameters) {
  const auto function = [](const Lines &own) {
    Lines lines = {"//@gswo manifest 1", "//@gswo function f"};
    lines.insert(lines.end(), own.begin(), own.end());
    lines.insert(lines.end(), {"//@gswo image out destination : float", "//@gswo done"});
    return parse_manifest("f.cu", joined(lines)).at(0);
  };
  const ManifestFunction f = function({"//@gswo constant win 5", "//@gswo constant gain -2.5",
                                       "//@gswo unused spare", "//@gswo unused b"});
  ASSERT_EQ(f.constants.size(), 2u);
  EXPECT_EQ(f.constants[1].name, "gain");
  EXPECT_EQ(f.constants[1].value, -2.5);
  EXPECT_EQ(f.unused, (std::vector<std::string>{"spare", "b"}));
  for (const char *line : {"unused", "unused a b", "constant", "constant a", "constant a b",
                           "constant a 1 2", "constant a inf"})
    EXPECT_THROW(function({std::string("//@gswo ") + line}), BadSetting) << line;
}

/// Random mistakes give a manifest that can be followed, or are refused.
TEST(GswoManifest, MutationsAreRefusedOrMakeSense) {
  std::mt19937 random(1);
  const auto pick = [&](std::size_t n) { return random() % n; };
  const std::string words[] = {
      "",  "0", "-1",   "1",    "2147483647", "99999999999", "a",   "in",   "out",  "n",     "pass",
      "-", ":", "turn", "read", "1.5",        "launch",      "end", "\xff", "gain", "repeat"};
  int good = 0;
  for (int turn = 0; turn < 3000; ++turn) {
    Lines lines = kLines;
    for (std::size_t changes = 1 + pick(3); changes > 0; --changes) {
      const std::size_t at = 1 + pick(lines.size() - 1);
      switch (pick(4)) {
        case 0:
          lines.erase(lines.begin() + at);
          break;
        case 1:
          std::swap(lines[at], lines[1 + pick(lines.size() - 1)]);
          break;
        case 2:
          lines.insert(lines.begin() + at, lines[1 + pick(lines.size() - 1)]);
          break;
        default: {
          std::istringstream in(lines[at]);
          Lines parts;
          for (std::string word; in >> word;) parts.push_back(word);
          const std::size_t which = 1 + pick(parts.size());
          if (which < parts.size())
            parts[which] = words[pick(std::size(words))];
          else
            parts.push_back(words[pick(std::size(words))]);
          lines[at].clear();
          for (const std::string &part : parts) lines[at] += part + ' ';
          lines[at].pop_back();
        }
      }
    }
    SCOPED_TRACE(joined(lines));
    try {
      for (const ManifestFunction &f : parse_manifest("f.cu", joined(lines))) {
        const auto is_image = [&](int n) { return 0 <= n && n < std::ssize(f.images); };
        const auto is_scalar = [&](int n) { return 0 <= n && n < std::ssize(f.scalars); };
        for (std::size_t i = 0; i < f.steps.size(); ++i) {
          if (const auto *kernel = std::get_if<step::Kernel>(&f.steps[i])) {
            for (const step::Argument &argument : kernel->arguments)
              EXPECT_TRUE(argument.is_image ? is_image(argument.number)
                                            : is_scalar(argument.number));
            EXPECT_LE(kernel->block[0] * kernel->block[1], 1024);
            EXPECT_TRUE(kernel->tile[0] > 0 && kernel->tile[1] > 0);
          } else if (const auto *repeat = std::get_if<step::Repeat>(&f.steps[i])) {
            EXPECT_TRUE(repeat->end > i && repeat->end <= f.steps.size());
            EXPECT_TRUE(repeat->scalar == -1 || is_scalar(repeat->scalar));
            EXPECT_TRUE(repeat->turn == -1 || is_scalar(repeat->turn));
          } else if (const auto *swap = std::get_if<step::Swap>(&f.steps[i])) {
            EXPECT_TRUE(is_image(swap->first) && is_image(swap->second));
          } else {
            EXPECT_TRUE(is_image(std::get<step::Clear>(f.steps[i]).image));
          }
        }
        ++good;
      }
    } catch (const BadSetting &e) {
      EXPECT_TRUE(std::string(e.what()).starts_with("f.cu:")) << e.what();
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(good, 100);
}

TEST(GswoManifest, TypesHaveSizes) {
  EXPECT_EQ(size_of_type("bool"), 1);
  EXPECT_EQ(size_of_type("unsigned char"), 1);
  EXPECT_EQ(size_of_type("short"), 2);
  EXPECT_EQ(size_of_type("unsigned int"), 4);
  EXPECT_EQ(size_of_type("long"), 8);
  EXPECT_EQ(size_of_type("unsigned long long"), 8);
  EXPECT_EQ(size_of_type("float"), 4);
  EXPECT_EQ(size_of_type("double"), 8);
  for (const char *none : {"", "void", "int *", "int ", " int", "long double", "unsigned", "Int"})
    EXPECT_EQ(size_of_type(none), 0) << none;
}

template <typename T>
T value_of(const std::string &type, double number) {
  T value;
  std::memcpy(&value, value_of_type(type, number).data(), sizeof(value));
  return value;
}

TEST(GswoManifest, TypesHaveRanges) {
  EXPECT_EQ(range_missed("unsigned char", 255), "");
  EXPECT_EQ(range_missed("unsigned char", 256), "0 to 255");
  EXPECT_EQ(range_missed("unsigned char", -1), "0 to 255");
  EXPECT_EQ(range_missed("signed char", -129), "-128 to 127");
  EXPECT_EQ(range_missed("short", -32768), "");
  EXPECT_EQ(range_missed("int", 5000000000), "-2147483648 to 2147483647");
  EXPECT_EQ(range_missed("unsigned long", -1), "0 to 18446744073709551615");
  EXPECT_EQ(range_missed("unsigned long", INT64_MAX), "");
  EXPECT_EQ(range_missed("long", INT64_MIN), "");
  for (const char *any : {"bool", "float", "double"}) EXPECT_EQ(range_missed(any, 300), "") << any;
}

TEST(GswoManifest, ValuesAreCutOffAtTheEnds) {
  EXPECT_EQ(value_of<int>("int", 2.9), 2);
  EXPECT_EQ(value_of<int>("int", -2.9), -2);
  EXPECT_EQ(value_of<int>("int", 1e30), INT_MAX);
  EXPECT_EQ(value_of<int>("int", -1e30), INT_MIN);
  EXPECT_EQ(value_of<int>("int", INFINITY), INT_MAX);
  EXPECT_EQ(value_of<unsigned>("unsigned int", -5), 0u);
  EXPECT_EQ(value_of<unsigned>("unsigned int", 4294967295.0), 4294967295u);
  EXPECT_EQ(value_of<long>("long", 9.3e18), LONG_MAX);
  EXPECT_EQ(value_of<unsigned long long>("unsigned long long", 1.9e19), ULLONG_MAX);
  EXPECT_EQ(value_of<unsigned char>("unsigned char", 300), 255);
  EXPECT_EQ(value_of<signed char>("signed char", -129), -128);
  EXPECT_EQ(value_of<signed char>("char", 200), 127);
  EXPECT_EQ(value_of<bool>("bool", 0.25), true);
  EXPECT_EQ(value_of<bool>("bool", 0), false);
  EXPECT_EQ(value_of<float>("float", 0.1), 0.1f);
  EXPECT_EQ(value_of<double>("double", 0.1), 0.1);
}

}  // namespace
}  // namespace cudascan::gswo
