// SPDX-License-Identifier: LGPL-2.1-or-later
// Angles of scanned pages: their own angle compared with Leptonica's, angles by which the test
// rotates them, and pictures without an angle. The images are not part of the project:
// CUDASCAN_TEST_DATA names their folder.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <random>
#include <string>
#include <vector>

#include "kernels/linearopen.h"
#include "tests/kernels/documents.h"

namespace cudascan {
namespace {

using Operation = LinearOpenOperation;
using test::data_folder;

LinearOpenReport measured(const cv::Mat &image, Operation operation, int length) {
  LinearOpenParams params;
  params.operation = operation;
  params.length = length;
  params.angle = -20;
  params.span = 40;
  params.directions = 401;
  cv::Mat result(image.size(), CV_8U);
  LinearOpenReport report;
  Cpu cpu;
  run(cpu,
      Plane<const std::uint8_t>{image.data, image.cols, image.rows,
                                static_cast<std::ptrdiff_t>(image.step)},
      Plane<std::uint8_t>{result.data, result.cols, result.rows,
                          static_cast<std::ptrdiff_t>(result.step)},
      params, &report);
  return report;
}

/// Rotates an image counter-clockwise about its centre and keeps its size.
cv::Mat turned(const cv::Mat &image, double angle, bool onto_white) {
  const cv::Point2f centre((image.cols - 1) / 2.F, (image.rows - 1) / 2.F);
  cv::Mat result;
  cv::warpAffine(image, result, cv::getRotationMatrix2D(centre, angle, 1), image.size(),
                 cv::INTER_LINEAR, onto_white ? cv::BORDER_CONSTANT : cv::BORDER_REPLICATE,
                 cv::Scalar(255));
  return result;
}

cv::Mat read(const std::string &file) {
  return cv::imread((data_folder() / file).string(), cv::IMREAD_GRAYSCALE);
}

/// Reduces a page by a whole number to about the size of a sheet at 200 dpi.
cv::Mat reduced(const cv::Mat &image) {
  const int by = (image.cols + 1699) / 1700;
  cv::Mat result;
  cv::resize(image, result, {image.cols / by, image.rows / by}, 0, 0, cv::INTER_AREA);
  return result;
}

/// The page's angle according to Leptonica: the clockwise rotation that makes the page upright.
double leptonica_angle(const std::string &file) {
  nlohmann::json reference;
  std::ifstream(data_folder() / "reference.json") >> reference;
  return reference.at("images").at(file).at("leptonica_skew").at("angle_deg");
}

struct Page {
  const char *file;
  double skew;     ///< degrees, measured by differences of sums along lines
  bool leptonica;  ///< whether Leptonica agrees
};

/// The measurement that docs/rotation.md recommends for a kind of page, and the least confidence of
/// a trusted angle.
struct Recipe {
  LinearOpenReport (*measure)(const cv::Mat &page);
  double trusted;
};

/// For rules and staves.
const Recipe kClosing = {
    [](const cv::Mat &page) { return measured(page, Operation::closing, 250); }, 0.5};

/// For text: averages along the lines of text, like scaling to a quarter of the width and back.
const Recipe kOpening = {[](const cv::Mat &page) {
                           cv::Mat averaged;
                           cv::GaussianBlur(page, averaged, {15, 1}, 2.3);
                           return measured(averaged, Operation::opening, page.cols * 3 / 4);
                         },
                         0.6};

/// Counts rotated pages, those whose angle is trusted, and those whose trusted angle is right.
class Views {
 public:
  /// Measures a page that is rotated by each of the angles.
  void add(const Page &page, const Recipe &recipe,
           std::initializer_list<double> angles = {0, -12.3, 15}) {
    const std::string file = page.file;
    const cv::Mat image = reduced(read(file));
    int view = 0;
    for (const double angle : angles) {
      const double skew = page.skew + angle;
      if (std::fabs(skew) > 18) continue;
      const LinearOpenReport report =
          recipe.measure(angle == 0 ? image : turned(image, angle, ++view % 2 == 0));
      const double error = std::fabs(report.dominant_angle - skew);
      std::printf("%-28s at %6.2f  found %7.3f  confidence %.2f\n", page.file, skew,
                  report.dominant_angle, report.confidence);
      ++views_;
      if (report.confidence < recipe.trusted) continue;
      ++trusted_;
      right_ += error < 0.1;
      EXPECT_LT(error, 0.2) << page.file << " at " << skew;
      if (angle == 0 && page.leptonica) {
        EXPECT_NEAR(report.dominant_angle, leptonica_angle(file), 0.1) << page.file;
      }
    }
  }

  double trusted() const { return static_cast<double>(trusted_) / views_; }
  double right() const { return static_cast<double>(right_) / trusted_; }

  /// Prints the counts.
  ~Views() { std::printf("%d views, %d trusted, %d right\n", views_, trusted_, right_); }

 private:
  int views_ = 0, trusted_ = 0, right_ = 0;
};

const std::vector<Page> kRules = {{"pages/music_rondo_skewed.png", 2.18, true},
                                  {"pages/ortiz-02.png", 0, true},
                                  {"pages/handwritten_sheet_F1550.jpg", 1.22, true},
                                  {"pages/notesA1.jpg", -0.04, true}};

// Leptonica sees the edges of the sheet on book_eiteritz1719, and looks no further than 7 degrees
// on paper_rotated. The lines of scots-frag and w91frag are not parallel.
const std::vector<Page> kText = {{"pages/typed_memo_4152x6172.png", 1.40, true},
                                 {"pages/article_colour.png", 2.78, true},
                                 {"pages/w91frag.jpg", -0.56, false},
                                 {"pages/scots-frag.png", 0.18, false},
                                 {"pages/feyn.png", -0.94, true},
                                 {"pages/book_eiteritz1719_p206.jpg", -0.65, false},
                                 {"pages/8071_093.3B.png", -0.42, true},
                                 {"pages/linn.png", -0.01, true},
                                 {"pages/paper_rotated_blackbg.png", -7.08, false}};

// Curved lines, or lines that differ by up to three degrees. The last pages have only about five
// lines.
const std::vector<Page> kBent = {
    {"pages/cat.035.jpg", -4.04, false},       {"pages/1555.007.jpg", -0.05, false},
    {"dibco/dibco2009_H01.png", -0.35, false}, {"dibco/dibco2009_P02.png", -0.03, false},
    {"dibco/dibco2009_P04.png", 0.82, false},  {"dibco/dibco2009_P05.png", 0.06, false}};

void need_pages() {
  NEED_DATA("reference.json");
  for (const auto *pages : {&kRules, &kText, &kBent})
    for (const Page &page : *pages) NEED_DATA(page.file);
}

class LinearOpenRotation : public testing::Test {
 protected:
  void SetUp() override { need_pages(); }
};

TEST_F(LinearOpenRotation, OfRulesIsFoundByClosing) {
  Views views;
  for (const Page &page : kRules) views.add(page, kClosing);
  EXPECT_GE(views.trusted(), 0.9);
  EXPECT_EQ(views.right(), 1);
}

TEST_F(LinearOpenRotation, OfTextIsFoundByOpening) {
  Views views;
  for (const Page &page : kText) views.add(page, kOpening);
  EXPECT_GE(views.trusted(), 0.95);
  EXPECT_GE(views.right(), 0.9);
}

TEST_F(LinearOpenRotation, IsNotTrustedOnBentPages) {
  Views views;
  for (const Page &page : kBent) {
    views.add(page, kOpening);
    views.add(page, kClosing);
  }
  EXPECT_EQ(views.trusted(), 0);
}

TEST_F(LinearOpenRotation, FromTheWrongRecipeIsRightOrNotTrusted) {
  Views rules, text;
  for (const Page &page : kRules) rules.add(page, kOpening, {0, -12.3});
  for (const Page &page : kText) text.add(page, kClosing, {-12.3});
  EXPECT_EQ(text.trusted(), 0);
  EXPECT_GT(rules.trusted(), 0)
      << "rules with the distance of lines of text are found by both recipes";
  EXPECT_EQ(rules.right(), 1);
}

TEST(LinearOpenBlank, PhotographsHaveNoAngle) {
  for (const char *const file :
       {"photos/sipi_2.1.04.png", "photos/sipi_7.2.01.png", "photos/moon.png", "photos/coins.png",
        "photos/ihc.png", "textures/brick.png", "vessels_cracks/cfd_001.jpg"}) {
    NEED_DATA(file);
    const cv::Mat image = read(file);
    ASSERT_FALSE(image.empty()) << file;
    for (const Recipe &recipe : {kClosing, kOpening}) {
      const LinearOpenReport report = recipe.measure(image);
      EXPECT_TRUE(report.blank) << file << ": " << report.dominant_angle << " with confidence "
                                << report.confidence;
    }
  }
}

TEST(LinearOpenBlank, EmptyPagesHaveNoAngle) {
  std::mt19937 random(11);
  std::normal_distribution<double> grain(0, 4);
  cv::Mat grainy(877, 620, CV_8U), shaded(grainy.size(), CV_8U);
  for (int y = 0; y < grainy.rows; ++y)
    for (int x = 0; x < grainy.cols; ++x) {
      const double light = 30. * (x - 200) / 620 * (x - 200) / 620 + 20. * y / 877;
      grainy.at<std::uint8_t>(y, x) = cv::saturate_cast<std::uint8_t>(235 + grain(random));
      shaded.at<std::uint8_t>(y, x) = cv::saturate_cast<std::uint8_t>(235 - light + grain(random));
    }
  cv::Mat blurred, white(grainy.size(), CV_8U, cv::Scalar(255));
  cv::GaussianBlur(shaded, blurred, {}, 1.2);
  for (const cv::Mat &page : {white, grainy, shaded, blurred, turned(blurred, 7.7, true)})
    for (const Recipe &recipe : {kClosing, kOpening}) {
      const LinearOpenReport report = recipe.measure(page);
      EXPECT_TRUE(report.blank) << report.dominant_angle << ' ' << report.confidence;
    }
}

}  // namespace
}  // namespace cudascan
