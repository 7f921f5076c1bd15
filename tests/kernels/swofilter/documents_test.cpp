// SPDX-License-Identifier: LGPL-2.1-or-later
// Sliding windows on scanned documents and other pictures, compared with OpenCV. The images are not
// part of the project: CUDASCAN_TEST_DATA names their folder.
#include <gtest/gtest.h>

#include <opencv2/imgproc.hpp>
#include <string>
#include <vector>
#ifdef HAVE_XIMGPROC
#include <opencv2/ximgproc.hpp>
#endif

#include "kernels/swofilter.h"
#include "tests/kernels/operator_test.h"
#include "tests/kernels/reference_images.h"

namespace cudascan {
namespace {

using test::for_each_image;
using test::kReference;
using test::samples_of;
using Params = SwoFilterParams;
using Op = SwoFilterOperator;
using Border = SwoFilterBorder;

/// The result on one backend.
template <typename T, typename Runner>
std::vector<T> result(Runner &runner, const cv::Mat &image, const Params &params) {
  const test::Image<T> in(samples_of<T>(image), image.cols, image.rows);
  return test::outcome<T>(runner, in, {}, std::numeric_limits<T>::max(), params, 0x5a).samples;
}

template <typename Runner>
testing::AssertionResult gives(Runner &runner, const cv::Mat &image, const Params &params,
                               const cv::Mat &expected) {
  const auto equal = image.depth() == CV_8U
                         ? test::same(samples_of<std::uint8_t>(expected),
                                      result<std::uint8_t>(runner, image, params), image.cols)
                         : test::same(samples_of<std::uint16_t>(expected),
                                      result<std::uint16_t>(runner, image, params), image.cols);
  if (equal) return equal;
  return testing::AssertionFailure()
         << equal.message() << "; operator " << static_cast<int>(params.op) << ", window "
         << params.window << ", " << params.window_width << "x" << params.window_height
         << ", shape " << params.shape << ", border " << static_cast<int>(params.border);
}

/// The middle of an image that is larger. It is a copy, as OpenCV would read the samples around a
/// part of a larger image.
cv::Mat middle(const cv::Mat &image, int width, int height) {
  const int w = std::min(width, image.cols), h = std::min(height, image.rows);
  return image(cv::Rect((image.cols - w) / 2, (image.rows - h) / 2, w, h)).clone();
}

/// A picture with dark objects in white.
cv::Mat bilevel(const cv::Mat &image, int width, int height) {
  cv::Mat gray = middle(image, width, height), result;
  if (gray.depth() == CV_16U) {
    double most = 1;
    cv::minMaxLoc(gray, nullptr, &most);
    gray.convertTo(gray, CV_8U, 255 / most);
  }
  cv::threshold(gray, result, 0, 255, cv::THRESH_BINARY_INV | cv::THRESH_OTSU);
  return result;
}

// Defines a test of compare(runner) for each backend.
#ifdef HAVE_CUDA
#define TEST_WITH_DOCUMENTS(Name)        \
  TEST(SwoFilterDocuments, Name) {       \
    NEED_DATA(kReference);               \
    test::CpuRunner runner;              \
    compare##Name(runner);               \
  }                                      \
  TEST(SwoFilterDocuments, Cuda##Name) { \
    NEED_DATA(kReference);               \
    NEED_GPU();                          \
    test::CudaRunner runner;             \
    compare##Name(runner);               \
  }                                      \
  static_assert(true)
#else
#define TEST_WITH_DOCUMENTS(Name)  \
  TEST(SwoFilterDocuments, Name) { \
    NEED_DATA(kReference);         \
    test::CpuRunner runner;        \
    compare##Name(runner);         \
  }                                \
  static_assert(true)
#endif

// ---- Medians and means --------------------------------------------------------------------------

template <typename Runner>
void compareHashesOfMedian5(Runner &runner) {
  int hashes = 0;
  for_each_image([&](const cv::Mat &gray, const nlohmann::json &entry) {
    if (gray.depth() != CV_8U || !entry.contains("median5_sha256")) return;
    // JPEG decoders differ, so the gray values may differ, too.
    if (entry.at("gray").at("sha256") != test::sha256(samples_of<std::uint8_t>(gray))) return;
    const auto got = result<std::uint8_t>(runner, gray, {.window = 5, .border = Border::replicate});
    ASSERT_EQ(nlohmann::json(test::sha256(got)), entry.at("median5_sha256"));
    ++hashes;
  });
  EXPECT_GE(hashes, 40);
}
TEST_WITH_DOCUMENTS(HashesOfMedian5);

template <typename Runner>
void compareMedians(Runner &runner) {
  constexpr int kSizes[] = {3, 7, 9, 15, 31, 55, 101};
  std::size_t turn = 0;
  int deep = 0;
  for_each_image([&](const cv::Mat &gray, const nlohmann::json &) {
    const cv::Mat image = middle(gray, 900, 700);
    for (int i = 0; i < 2; ++i) {
      // OpenCV has only these two sizes for 16 bits.
      const int size = image.depth() == CV_16U ? 3 + 2 * i : kSizes[turn++ % std::size(kSizes)];
      cv::Mat expected;
      cv::medianBlur(image, expected, size);
      ASSERT_TRUE(gives(runner, image, {.window = size, .border = Border::replicate}, expected));
    }
    deep += image.depth() == CV_16U;
  });
  EXPECT_GE(deep, 1);
}
TEST_WITH_DOCUMENTS(Medians);

/// The windows have odd width and height and are not clipped. So no mean is exactly between two
/// levels, and the way of rounding does not matter.
template <typename Runner>
void compareMeans(Runner &runner) {
  constexpr test::Size kSizes[] = {{3, 3}, {5, 5}, {15, 7}, {1, 31}, {41, 41}, {101, 3}};
  std::size_t turn = 0;
  for_each_image([&](const cv::Mat &gray, const nlohmann::json &) {
    const cv::Mat image = middle(gray, 1200, 900);
    for (const auto &[border, opencvs] : {std::pair(Border::replicate, cv::BORDER_REPLICATE),
                                          std::pair(Border::reflect, cv::BORDER_REFLECT)}) {
      const auto [width, height] = kSizes[turn++ % std::size(kSizes)];
      cv::Mat expected;
      cv::blur(image, expected, {width, height}, {-1, -1}, opencvs);
      ASSERT_TRUE(
          gives(runner, image,
                {.op = Op::mean, .window_width = width, .window_height = height, .border = border},
                expected));
    }
  });
}
TEST_WITH_DOCUMENTS(Means);

// ---- Morphology ---------------------------------------------------------------------------------

struct Element {
  Params params;  // only the window is set
  cv::Mat cells;
};

std::vector<Element> elements() {
  const auto of = [](int shape, const char *name, int width, int height) {
    return Element{{.window_width = width, .window_height = height, .shape = name},
                   cv::getStructuringElement(shape, {width, height})};
  };
  return {of(cv::MORPH_RECT, "rectangle", 3, 3),
          of(cv::MORPH_ELLIPSE, "ellipse", 9, 9),
          of(cv::MORPH_CROSS, "cross", 7, 5),
          {{.shape = "11000;00100;00111"},
           (cv::Mat_<std::uint8_t>(3, 5) << 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 1)},
          of(cv::MORPH_RECT, "rectangle", 31, 7),
          of(cv::MORPH_ELLIPSE, "ellipse", 5, 13),
          {{.shape = "100;000;011"}, (cv::Mat_<std::uint8_t>(3, 3) << 1, 0, 0, 0, 0, 0, 0, 1, 1)},
          of(cv::MORPH_RECT, "rectangle", 1, 63),
          of(cv::MORPH_CROSS, "cross", 15, 15)};
}

struct OutsideOf {
  Border border;
  int opencvs;
  cv::Scalar value;
};

cv::Mat morphology(const cv::Mat &image, Op op, const cv::Mat &cells, const OutsideOf &outside) {
  cv::Mat turned, eroded, dilated;
  cv::flip(cells, turned, -1);
  const auto erode = [&](const cv::Mat &in, cv::Mat &out, const cv::Mat &by) {
    cv::erode(in, out, by, {-1, -1}, 1, outside.opencvs, outside.value);
  };
  const auto dilate = [&](const cv::Mat &in, cv::Mat &out, const cv::Mat &by) {
    cv::dilate(in, out, by, {-1, -1}, 1, outside.opencvs, outside.value);
  };
  erode(image, eroded, cells);
  dilate(image, dilated, cells);
  switch (op) {
    case Op::erode:
      return eroded;
    case Op::dilate:
      return dilated;
    case Op::gradient:
      return dilated - eroded;
    default:
      break;
  }
  cv::Mat opened, closed;
  dilate(eroded, opened, turned);
  erode(dilated, closed, turned);
  switch (op) {
    case Op::open:
      return opened;
    case Op::close:
      return closed;
    case Op::top_hat:
      return image - opened;
    default:
      return closed - image;
  }
}

template <typename Runner>
void compareMorphology(Runner &runner) {
  constexpr Op kOps[] = {Op::erode,    Op::dilate,  Op::open,     Op::close,
                         Op::gradient, Op::top_hat, Op::black_hat};
  const OutsideOf borders[] = {
      {Border::clip, cv::BORDER_CONSTANT, cv::morphologyDefaultBorderValue()},
      {Border::replicate, cv::BORDER_REPLICATE, {}},
      {Border::reflect, cv::BORDER_REFLECT, {}},
      {Border::constant, cv::BORDER_CONSTANT, cv::Scalar::all(77)}};
  const auto all = elements();
  std::size_t turn = 0;
  for_each_image([&](const cv::Mat &gray, const nlohmann::json &) {
    const cv::Mat image = middle(gray, 1200, 900);
    for (const OutsideOf &outside : borders) {
      const Element &element = all[turn % all.size()];
      const Op op = kOps[(turn / all.size() + turn) % std::size(kOps)];
      ++turn;
      Params params = element.params;
      params.op = op;
      params.border = outside.border;
      params.border_value = 77;
      ASSERT_TRUE(gives(runner, image, params, morphology(image, op, element.cells, outside)));
    }
  });
}
TEST_WITH_DOCUMENTS(Morphology);

// ---- Black and white ----------------------------------------------------------------------------

template <typename Runner>
void compareHitOrMiss(Runner &runner) {
  const std::pair<const char *, cv::Mat> masks[] = {
      {"-1-;011;00-", (cv::Mat_<int>(3, 3) << 0, 1, 0, -1, 1, 1, -1, -1, 0)},
      {"000;010;000", (cv::Mat_<int>(3, 3) << -1, -1, -1, -1, 1, -1, -1, -1, -1)},
      {"1-0-1", (cv::Mat_<int>(1, 5) << 1, 0, -1, 0, 1)}};
  for_each_image([&](const cv::Mat &gray, const nlohmann::json &) {
    const cv::Mat image = bilevel(gray, 900, 700);
    cv::Mat all = cv::Mat::zeros(image.size(), CV_8U);
    std::string shapes;
    for (const auto &[shape, cells] : masks) {
      cv::Mat expected;
      cv::morphologyEx(image, expected, cv::MORPH_HITMISS, cells);
      ASSERT_TRUE(gives(runner, image, {.op = Op::hit_or_miss, .shape = shape}, expected));
      all |= expected;
      shapes += std::string(shape) + " ";
    }
    ASSERT_TRUE(gives(runner, image, {.op = Op::hit_or_miss, .shape = shapes}, all));
  });
}
TEST_WITH_DOCUMENTS(HitOrMiss);

/// Black areas that do not touch the edges are filled; white areas that touch them are removed.
template <typename Runner>
void compareFloods(Runner &runner) {
  for_each_image([&](const cv::Mat &gray, const nlohmann::json &) {
    const cv::Mat image = bilevel(gray, 900, 700);
    for (const int connectivity : {4, 8}) {
      const auto flooded_from_outside = [&](int outside, int level) {
        cv::Mat framed;
        cv::copyMakeBorder(image, framed, 1, 1, 1, 1, cv::BORDER_CONSTANT, outside);
        cv::floodFill(framed, {0, 0}, level, nullptr, {}, {}, connectivity);
        return framed(cv::Rect({1, 1}, image.size())).clone();
      };
      ASSERT_TRUE(gives(runner, image, {.op = Op::clear_border, .connectivity = connectivity},
                        flooded_from_outside(255, 0)));
      const cv::Mat reached = flooded_from_outside(0, 100) == 100;
      ASSERT_TRUE(gives(runner, image, {.op = Op::fill_holes, .connectivity = connectivity},
                        cv::Mat(255 - reached)));
    }
  });
}
TEST_WITH_DOCUMENTS(Floods);

#ifdef HAVE_XIMGPROC
/// OpenCV does not change the pixels on the edges, so the image gets a frame.
cv::Mat thinned(const cv::Mat &image, int type) {
  cv::Mat framed, result;
  cv::copyMakeBorder(image, framed, 1, 1, 1, 1, cv::BORDER_CONSTANT, 0);
  cv::ximgproc::thinning(framed, result, type);
  return result(cv::Rect({1, 1}, image.size())).clone();
}

template <typename Runner>
void compareThinning(Runner &runner) {
  for_each_image([&](const cv::Mat &gray, const nlohmann::json &) {
    const cv::Mat image = bilevel(gray, 300, 200);
    for (const auto &[thinning, opencvs] :
         {std::pair(SwoFilterThinning::zhang_suen, cv::ximgproc::THINNING_ZHANGSUEN),
          std::pair(SwoFilterThinning::guo_hall, cv::ximgproc::THINNING_GUOHALL)}) {
      ASSERT_TRUE(
          gives(runner, image, {.op = Op::thin, .thinning = thinning}, thinned(image, opencvs)));
      ASSERT_TRUE(gives(runner, image, {.op = Op::thicken, .thinning = thinning},
                        cv::Mat(255 - thinned(255 - image, opencvs))));
    }
  });
}
TEST_WITH_DOCUMENTS(Thinning);
#endif

}  // namespace
}  // namespace cudascan
