// SPDX-License-Identifier: LGPL-2.1-or-later
// The local thresholds on scanned documents, compared with results of other programs. The images
// are not part of the project: CUDASCAN_TEST_DATA names their folder.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <vector>

#include "tests/kernels/documents.h"
#include "tests/kernels/nick/oracle.h"

namespace cudascan {
namespace {

namespace fs = std::filesystem;
using test::data_folder;
using test::Gray8;

cv::Mat read(const fs::path &file, cv::ImreadModes mode) {
  const cv::Mat image = cv::imread((data_folder() / file).string(), mode);
  if (image.empty()) throw Error("cannot read " + (data_folder() / file).string());
  return image;
}

/// The samples of an image with one channel.
Gray8 samples_of(const cv::Mat &image) {
  Gray8 samples;
  for (int y = 0; y < image.rows; ++y)
    samples.insert(samples.end(), image.ptr(y), image.ptr(y) + image.cols);
  return samples;
}

Gray8 binarize(const Gray8 &samples, int width, int height, const NickParams &params) {
  return test::result(test::Image<std::uint8_t>(samples, width, height), params);
}

// ---- Doxa ------------------------------------------------------------------------------------

/// A picture that Doxa's tests expect, and the parameters that they use.
struct DoxaPicture {
  const char *name;
  NickParams params;
  friend std::ostream &operator<<(std::ostream &s, const DoxaPicture &p) { return s << p.params; }
};

class NickDoxa : public testing::TestWithParam<DoxaPicture> {
 protected:
  static constexpr const char *kPage = "dibco/2JohnC1V3.ppm";
  static Gray8 expected() {
    return samples_of(read(std::string("dibco/doxa_expected/2JohnC1V3-") + GetParam().name + ".png",
                           cv::IMREAD_GRAYSCALE));
  }
};

std::size_t differences(const Gray8 &a, const Gray8 &b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), std::size_t{0}, std::plus<>(),
                            std::not_equal_to<>());
}

/// Doxa's gray is (11 R + 16 G + 5 B) / 32. For this gray the pictures of Sauvola, Niblack and Wolf
/// are equal, pixel by pixel: both use the same formulas and clip the window. Doxa's NICK omits m^2
/// / N in the radicand, which lowers T by at most 0.03 levels here. Only samples between the two
/// thresholds may differ.
TEST_P(NickDoxa, EqualFromTheSameGray) {
  NEED_DATA(kPage);
  const cv::Mat colours = read(kPage, cv::IMREAD_COLOR);  // B G R
  Gray8 gray;
  for (int y = 0; y < colours.rows; ++y)
    for (int x = 0; x < colours.cols; ++x) {
      const auto &c = colours.at<cv::Vec3b>(y, x);
      gray.push_back(static_cast<std::uint8_t>((11 * c[2] + 16 * c[1] + 5 * c[0]) / 32));
    }
  const int width = colours.cols;
  const test::Image<std::uint8_t> in(gray, width, colours.rows);
  const NickParams &params = GetParam().params;
  const Gray8 got = test::result(in, params), wanted = expected();
  if (params.method != NickMethod::nick) {
    EXPECT_TRUE(test::same(got, wanted, width));
    return;
  }
  EXPECT_LE(differences(got, wanted), got.size() * 0.002);
  const auto moments = test::moments_by_tables(in.plane(), params.window, params.window);
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == wanted[i]) continue;
    const long double paper = test::threshold(moments[i], {}, params, 255);
    const long double doxa = moments[i].mean + k_in_use(params) * std::sqrt(moments[i].power);
    EXPECT_TRUE(doxa < gray[i] && gray[i] <= paper)
        << "at (" << i % width << ", " << i / width << ")";
  }
}

/// OpenCV's gray differs from Doxa's by up to 3 levels, almost everywhere by one. That changes the
/// decision for samples near T.
TEST_P(NickDoxa, CloseFromTheGrayOfOpenCV) {
  NEED_DATA(kPage);
  const cv::Mat gray = read(kPage, cv::IMREAD_GRAYSCALE);
  const Gray8 got = binarize(samples_of(gray), gray.cols, gray.rows, GetParam().params);
  EXPECT_LE(differences(got, expected()), got.size() * 0.001);
}

INSTANTIATE_TEST_SUITE_P(
    Pictures, NickDoxa,
    testing::Values(DoxaPicture{"NICK", {.method = NickMethod::nick, .window = 45, .k = -0.1}},
                    DoxaPicture{"Sauvola", {.method = NickMethod::sauvola, .window = 27, .k = 0.1}},
                    DoxaPicture{"Niblack",
                                {.method = NickMethod::niblack, .window = 223, .k = -0.61}},
                    DoxaPicture{"Wolf", {.method = NickMethod::wolf, .window = 21, .k = 0.18}}),
    [](const auto &info) { return std::string(info.param.name); });

// ---- F-measures ------------------------------------------------------------------------------

/// A row f64.* of reference.json. It was computed with numpy in double precision. There the border
/// pixels are repeated outside the image; we clip the window.
struct ReferenceRow {
  const char *name;
  NickParams params;
  friend std::ostream &operator<<(std::ostream &s, const ReferenceRow &r) { return s << r.params; }
};
constexpr double kR = 128;
const ReferenceRow kRows[] = {
    {"nick_w19", {.method = NickMethod::nick, .window = 19, .k = -0.2}},
    {"nick_w75", {.method = NickMethod::nick, .window = 75, .k = -0.2}},
    {"niblack_w19", {.method = NickMethod::niblack, .window = 19, .k = -0.2}},
    {"niblack_w75", {.method = NickMethod::niblack, .window = 75, .k = -0.2}},
    {"sauvola_k0.2_w19", {.method = NickMethod::sauvola, .window = 19, .k = 0.2, .r = kR}},
    {"sauvola_k0.2_w75", {.method = NickMethod::sauvola, .window = 75, .k = 0.2, .r = kR}},
    {"sauvola_k0.5_w19", {.method = NickMethod::sauvola, .window = 19, .k = 0.5, .r = kR}},
    {"sauvola_k0.5_w75", {.method = NickMethod::sauvola, .window = 75, .k = 0.5, .r = kR}},
    {"wolf_k0.2_w19", {.method = NickMethod::wolf, .window = 19, .k = 0.2}},
    {"wolf_k0.2_w75", {.method = NickMethod::wolf, .window = 75, .k = 0.2}},
    {"wolf_k0.5_w19", {.method = NickMethod::wolf, .window = 19, .k = 0.5}},
    {"wolf_k0.5_w75", {.method = NickMethod::wolf, .window = 75, .k = 0.5}},
};

/// A document, its true text, and its scores in reference.json.
struct Document {
  std::string file;
  int width, height;
  Gray8 gray;
  std::vector<bool> text;
  nlohmann::json scores;
};

class NickReference : public testing::TestWithParam<ReferenceRow> {
 protected:
  static void SetUpTestSuite() {
    if (!fs::exists(data_folder() / kFile)) return;
    std::ifstream(data_folder() / kFile) >> reference_;
    for (const auto &[file, entry] : reference_.at("images").items()) {
      if (!file.starts_with("dibco/") || !entry.contains("gt")) continue;
      const cv::Mat gray = read(file, cv::IMREAD_GRAYSCALE);
      const cv::Mat truth =
          read(fs::path(file).replace_extension().string() + "_gt.png", cv::IMREAD_GRAYSCALE);
      Document d{file, gray.cols, gray.rows, samples_of(gray), {}, entry.at("gt").at("scores")};
      for (const auto p : samples_of(truth)) d.text.push_back(p < 128);
      documents_.push_back(std::move(d));
    }
  }
  static void TearDownTestSuite() { documents_.clear(); }

  /// The F-measure in percent; black counts as text.
  static double f_measure(const Gray8 &picture, const std::vector<bool> &text) {
    std::size_t both = 0, sum = 0;
    for (std::size_t i = 0; i < picture.size(); ++i) {
      both += picture[i] == 0 && text[i];
      sum += (picture[i] == 0) + text[i];
    }
    return 200.0 * both / sum;
  }
  static std::string row() { return std::string("f64.") + GetParam().name; }

  static constexpr const char *kFile = "reference.json";
  inline static nlohmann::json reference_;
  inline static std::vector<Document> documents_;
};

TEST_P(NickReference, MeanFMeasure) {
  NEED_DATA(kFile);
  ASSERT_EQ(documents_.size(), 18u);
  double sum = 0;
  for (const Document &d : documents_)
    sum += f_measure(binarize(d.gray, d.width, d.height, GetParam().params), d.text);
  EXPECT_NEAR(sum / documents_.size(), reference_.at("mean_F").at(row()).get<double>(), 0.3);
}

/// The rows with the same formulas as ours if no window is clipped. Others differ: the reference
/// computes NICK without m^2 / N, and for wolf takes the largest deviation from windows that reach
/// over the border.
class NickReferenceBorder : public NickReference {
 public:
  static std::vector<ReferenceRow> rows() {
    std::vector<ReferenceRow> rows;
    std::copy_if(std::begin(kRows), std::end(kRows), std::back_inserter(rows), [](const auto &row) {
      return row.params.method == NickMethod::niblack || row.params.method == NickMethod::sauvola;
    });
    return rows;
  }
  /// The number of samples that equal their threshold.
  static std::ptrdiff_t ties(const Gray8 &samples, int width, int height,
                             const NickParams &params) {
    const test::Image<std::uint8_t> in(samples, width, height);
    std::ptrdiff_t n = 0;
    for (std::size_t i = 0;
         const auto &m : test::moments_by_tables(in.plane(), params.window, params.window))
      n += std::abs(samples[i++] - test::threshold(m, {}, params, 255)) <= test::tolerance(255);
    return n;
  }
};

/// The test repeats the border pixels of the images so far that no window is clipped. Then our
/// picture must be the reference's, as only the border rule differs. Samples that equal T may
/// differ: they are black here, but may be white in the reference, which rounds T.
TEST_P(NickReferenceBorder, SameTextWithTheBorderRepeated) {
  NEED_DATA(kFile);
  const NickParams &params = GetParam().params;
  const int r = params.window / 2;
  for (const Document &d : documents_) {
    const int width = d.width + 2 * r, height = d.height + 2 * r;
    Gray8 repeated;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        repeated.push_back(d.gray[std::clamp(y - r, 0, d.height - 1) * d.width +
                                  std::clamp(x - r, 0, d.width - 1)]);
    const Gray8 picture = binarize(repeated, width, height, params);
    Gray8 inner;
    for (int y = r; y < r + d.height; ++y)
      inner.insert(inner.end(), &picture[y * width + r], &picture[y * width + r] + d.width);
    const auto score = d.scores.at(row());
    const auto blacks = std::count(inner.begin(), inner.end(), 0);
    const auto wanted = score.at("fg_pixels").get<std::ptrdiff_t>();
    EXPECT_GE(blacks, wanted) << d.file;
    EXPECT_LE(blacks, wanted + ties(repeated, width, height, params)) << d.file;
    EXPECT_NEAR(f_measure(inner, d.text), score.at("F").get<double>(), 0.001) << d.file;
  }
}

const auto kRowName = [](const auto &info) {
  std::string name = info.param.name;
  std::erase(name, '.');
  return name;
};
INSTANTIATE_TEST_SUITE_P(Rows, NickReference, testing::ValuesIn(kRows), kRowName);
INSTANTIATE_TEST_SUITE_P(Rows, NickReferenceBorder, testing::ValuesIn(NickReferenceBorder::rows()),
                         kRowName);

}  // namespace
}  // namespace cudascan
