// SPDX-License-Identifier: LGPL-2.1-or-later
// How far scanned pages are turned: their own angle against Leptonica's, angles that the test turns
// them by, and pictures that have none. The images are not part of the project: CUDASCAN_TEST_DATA
// names their folder. Pages are read at full size; only some, because the test is to take seconds.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <random>
#include <string>

#include "documents.h"
#include "kernels/linearopen.h"

namespace cudascan {
namespace {

using Operation = LinearOpenOperation;
using test::data_folder;

LinearOpenReport measured(const cv::Mat &image, Operation operation, int length, double span = 40) {
  LinearOpenParams params;
  params.operation = operation;
  params.length = length;
  params.angle = -span / 2;
  params.span = span;
  params.directions = static_cast<int>(span * 4) + 1;
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

/// Turned counter-clockwise about its centre, in the size that it has.
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

/// What Leptonica turns a page by, clockwise, to have it upright: its angle.
double leptonica_angle(const std::string &file) {
  nlohmann::json reference;
  std::ifstream(data_folder() / "reference.json") >> reference;
  return reference.at("images").at(file).at("leptonica_skew").at("angle_deg");
}

struct Page {
  const char *file;
  Operation operation;
  int length;         ///< 0: three quarters of the width
  double tolerance;   ///< degrees, of the angle that it is turned by
  double confidence;  ///< at least
  friend std::ostream &operator<<(std::ostream &s, const Page &p) { return s << p.file; }
};

class LinearOpenRotation : public testing::TestWithParam<Page> {
 protected:
  int length(const cv::Mat &image) const {
    return GetParam().length ? GetParam().length : image.cols * 3 / 4;
  }
};

TEST_P(LinearOpenRotation, IsFound) {
  const Page &page = GetParam();
  const std::string file = std::string("pages/") + page.file;
  NEED_DATA(file);
  NEED_DATA("reference.json");
  const cv::Mat image = read(file);
  ASSERT_FALSE(image.empty());
  const double leptonica = leptonica_angle(file);
  for (const double angle : {0., -12.3, 4.45, 15.}) {
    const cv::Mat view = angle == 0 ? image : turned(image, angle, angle != 4.45);
    const LinearOpenReport report = measured(view, page.operation, length(view));
    const double error = report.dominant_angle - angle - leptonica;
    std::printf("%-28s turned %6.2f  found %7.3f  confidence %.2f  Leptonica, turned %7.3f\n",
                page.file, angle, report.dominant_angle, report.confidence, leptonica + angle);
    EXPECT_LT(std::fabs(error), page.tolerance) << angle;
    EXPECT_GT(report.confidence, page.confidence) << angle;
    EXPECT_FALSE(report.blank) << angle;
  }
}

// Rules and staves answer closings; text answers long openings with the gaps between its lines,
// which are wide and so answer within more degrees.
INSTANTIATE_TEST_SUITE_P(
    Pages, LinearOpenRotation,
    testing::Values(Page{"music_rondo_skewed.png", Operation::closing, 250, 0.1, 0.4},
                    Page{"ortiz-02.png", Operation::closing, 250, 0.1, 0.6},
                    Page{"handwritten_sheet_F1550.jpg", Operation::closing, 250, 0.1, 0.5},
                    Page{"notesA1.jpg", Operation::closing, 250, 0.1, 0.4},
                    Page{"article_colour.png", Operation::opening, 0, 0.25, 0.4},
                    Page{"w91frag.jpg", Operation::opening, 0, 0.25, 0.6},
                    Page{"linn.png", Operation::opening, 0, 0.25, 0.4}));

TEST(LinearOpenBlank, PhotographsHaveNoAngle) {
  for (const char *const file :
       {"photos/sipi_2.1.04.png", "photos/sipi_7.2.01.png", "photos/moon.png", "photos/coins.png",
        "photos/ihc.png", "textures/brick.png", "vessels_cracks/cfd_001.jpg"}) {
    NEED_DATA(file);
    const cv::Mat image = read(file);
    ASSERT_FALSE(image.empty()) << file;
    for (const auto &[operation, length] :
         {std::pair(Operation::closing, 250), std::pair(Operation::opening, image.cols * 3 / 4)}) {
      const LinearOpenReport report = measured(image, operation, length);
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
    for (const Operation operation : {Operation::closing, Operation::opening}) {
      const LinearOpenReport report = measured(page, operation, 250);
      EXPECT_TRUE(report.blank) << report.dominant_angle << ' ' << report.confidence;
    }
}

}  // namespace
}  // namespace cudascan
