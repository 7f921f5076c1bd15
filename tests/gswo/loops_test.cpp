// SPDX-License-Identifier: LGPL-2.1-or-later
// The loops of examples/gswo/loops, which are written as in public image code, give the pixels of
// their own code on the CPU and as emulated CUDA. Where they leave the border alone, the result has
// the pixels of the frame.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "filter_cases.h"

namespace cudascan::gswo::test {
namespace {

struct LoopCase {
  std::string name;
  std::string type;    ///< of the pixels in the code
  std::string sample;  ///< in memory
  int images = 2;
  bool flat = false;        ///< images are T *, not T **
  bool optimised = true;    ///< compiled as the library does; it takes long for large windows
  bool has_border = false;  ///< computes all pixels

  friend std::ostream &operator<<(std::ostream &o, const LoopCase &c) { return o << c.name; }
};

const LoopCase kLoops[] = {
    {.name = "sobel", .type = "unsigned char", .sample = "unsigned char", .flat = true},
    {.name = "bilateral", .type = "float", .sample = "unsigned char", .optimised = false},
    {.name = "local_variance", .type = "float", .sample = "unsigned char"},
    {.name = "non_local_means", .type = "float", .sample = "unsigned char", .optimised = false},
    {.name = "diffusion", .type = "float", .sample = "unsigned short"},
    {.name = "kuwahara", .type = "unsigned char", .sample = "unsigned char"},
    {.name = "guided",
     .type = "float",
     .sample = "unsigned char",
     .images = 4,
     .optimised = false,
     .has_border = true},
    {.name = "rank_order", .type = "unsigned char", .sample = "unsigned char", .flat = true},
    {.name = "local_binary_pattern",
     .type = "unsigned char",
     .sample = "unsigned char",
     .flat = true},
    {.name = "census", .type = "unsigned short", .sample = "unsigned short"},
};

std::string path_of(const LoopCase &c) {
  return GSWO_EXAMPLES "/loops/" + c.name + ".cpp";
}

/// The loop as it is, with a function that passes it the images.
std::string with_call(const LoopCase &c) {
  std::string text = read(path_of(c)) +
                     "\nextern \"C\" void plain(pixel ***images, int width, int "
                     "height) {\n  " +
                     c.name + "(";
  for (int i = 0; i < c.images; ++i)
    text +=
        (c.flat ? "images[" + std::to_string(i) + "][0], " : "images[" + std::to_string(i) + "], ");
  return text + "width, height);\n}\n";
}

template <typename Sample, typename T>
Picture plain(const Library &code, const LoopCase &c, Picture in) {
  const int width = in.width(), height = in.height();
  std::vector<T> pixels;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) pixels.push_back(in.at<Sample>(x, y));
  std::vector<std::vector<T>> images(c.images, pixels);
  std::vector<std::vector<T *>> rows(c.images);
  std::vector<T **> arguments;
  for (int i = 0; i < c.images; ++i) {
    for (int y = 0; y < height; ++y) rows[i].push_back(&images[i][y * width]);
    arguments.push_back(rows[i].data());
  }
  code.function<void(T ***, int, int)>("plain")(arguments.data(), width, height);
  Picture out(width, height, sizeof(Sample));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      out.at<Sample>(x, y) = static_cast<Sample>(std::round(
          std::clamp<double>(images.back()[y * width + x], 0, sizeof(Sample) == 1 ? 255 : 65535)));
  return out;
}

template <typename Sample>
Picture plain(const Library &code, const LoopCase &c, const Picture &in) {
  return c.type == "float" ? plain<Sample, float>(code, c, in) : plain<Sample, Sample>(code, c, in);
}

template <typename Sample>
void expect_plain(const LoopCase &c) {
  const Folder folder;
  const std::string file = folder / "plain.cpp";
  write(file, with_call(c));
  const Library code(file, {"-ffp-contract=off", "-w", "-x", "c++"}, folder);
  const Filter filter({path_of(c), {}, c.sample, 0, c.optimised});
  std::mt19937 random(1);
  // The last one has more rows and columns than the CPU computes at once.
  for (const auto &[w, h] : {std::pair(1, 1), {7, 9}, {37, 23}, {531, 35}}) {
    Picture in(w, h, sizeof(Sample));
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) in.at<Sample>(x, y) = random() % 256;
    Picture expected = plain<Sample>(code, c, in);
    for (const bool emulated : {false, true}) {
      Picture result = filter.run(in, {}, emulated);
      for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x)
          ASSERT_EQ(result.at<Sample>(x, y), expected.at<Sample>(x, y))
              << w << "x" << h << " at " << x << "," << y << (emulated ? ", emulated" : ", CPU");
    }
  }
}

class Loops : public testing::TestWithParam<LoopCase> {};

TEST_P(Loops, GiveThePixelsOfTheirOwnCode) {
  const LoopCase &c = GetParam();
  c.sample == "unsigned char" ? expect_plain<U8>(c) : expect_plain<U16>(c);
}

TEST_P(Loops, SayWhatTheBorderIs) {
  const LoopCase &c = GetParam();
  const Outcome outcome = translate({path_of(c)});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.errors.find("leave out") == std::string::npos, c.has_border) << outcome.errors;
  EXPECT_EQ(outcome.output.find("GSWO_COPY_EDGES") == std::string::npos, c.has_border);
}

INSTANTIATE_TEST_SUITE_P(Gswo, Loops, testing::ValuesIn(kLoops),
                         [](const auto &info) { return info.param.name; });

std::string notes_on(const std::string &loops, const std::string &parameters = "float **in, ") {
  const Folder folder;
  const std::string file = folder / "part.cpp";
  write(file, "void part(" + parameters +
                  "float **out, int height, int width) {\n#pragma parallel\n  {\n"
                  "#pragma for nest(2)\n" +
                  loops + "\n  }\n}\n");
  return translate({file}).errors;
}

TEST(GswoBorder, NotesSayWhichPixelsTheLoopsLeaveOut) {
  EXPECT_NE(notes_on("for (int y = 1; y < height - 2; y++)\n"
                     "  for (int x = 3; x <= width - 5; x++) out[y][x] = in[y][x];")
                .find("the loops leave out pixels at the edges of 'out' (rows: 1 above, 2 below; "
                      "columns: 3 on the left, 4 on the right); these are those of 'in'"),
            std::string::npos);
  EXPECT_NE(notes_on("for (int y = height - 2; y > 0; y--)\n"
                     "  for (int x = 0; x < width; x++) out[y][x] = 1;",
                     "")
                .find("(rows: 1 above, 1 below; columns: 0 on the left, 0 on the right); these are "
                      "0"),
            std::string::npos);
  EXPECT_NE(notes_on("for (int y = 0; y < height; y++)\n"
                     "  for (int x = 0; x < width; x++)\n    if (in[y][x] > 9) out[y][x] = 0;")
                .find("the loops leave out some pixels of 'out'; these are those of 'in'"),
            std::string::npos);
  EXPECT_NE(notes_on("for (int y = 0; y < height; y += 2)\n"
                     "  for (int x = 0; x < width; x++) out[y][x] = in[y][x];")
                .find("the loops leave out some pixels of 'out'"),
            std::string::npos);
  // The first row is 1 or 3.
  EXPECT_NE(notes_on("for (int y = width > 9 ? 1 : 3; y < height - 3; y++)\n"
                     "  for (int x = 0; x < width; x++) out[y][x] = in[y - 3][x];")
                .find("the loops leave out some pixels of 'out'"),
            std::string::npos);
  EXPECT_EQ(notes_on("for (int y = 0; y < height; y++)\n"
                     "  for (int x = 0; x < width; x++) out[y][x] = in[y][x] / 2;"),
            "");
}

}  // namespace
}  // namespace cudascan::gswo::test
