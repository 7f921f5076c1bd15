// SPDX-License-Identifier: LGPL-2.1-or-later
#include "filter_cases.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace cudascan::gswo::test {
namespace {

constexpr int kMargin = 6;
constexpr double kBorderValue = 9;

/// The position in [0, n) whose pixel is used for `i` outside, found by single steps; -1 for the
/// constant border value.
int walked(int i, int n, int border) {
  if (border == 4) return i < 0 || i >= n ? -1 : i;
  int at = 0, way = 1;
  const int steps = i < 0 ? -i : i, side = i < 0 ? -1 : 1;
  for (int k = 0; k < steps; ++k) {
    const int next = at + side * way;
    if (next >= 0 && next < n)
      at = next;
    else if (border == 3)
      at = next < 0 ? n - 1 : 0;
    else if (border == 2)
      way = -way;
    else if (border == 1 && n > 1)
      way = -way, at += side * way;
  }
  return at;
}

/// An image of the user's type with a margin on all sides.
template <typename T>
class Padded {
 public:
  Padded(int width, int height) : width_(width + 2 * kMargin), height_(height + 2 * kMargin) {
    pixels_.resize(static_cast<std::size_t>(width_ + 0) * height_);
    for (int y = 0; y < height_; ++y)
      rows_.push_back(&pixels_[static_cast<std::size_t>(y) * width_ + kMargin]);
  }
  T &at(int x, int y) { return rows_[y + kMargin][x]; }
  /// rows()[origin] is the first row of the image; in each row, index `origin` is the first column.
  T **rows(int origin = 0) {
    moved_.clear();
    for (T *row : rows_) moved_.push_back(row - origin);
    return moved_.data() + kMargin - origin;
  }
  T *all() { return pixels_.data(); }
  int full_width() const { return width_; }
  int full_height() const { return height_; }

 private:
  int width_, height_;
  std::vector<T> pixels_;
  std::vector<T *> rows_, moved_;
};

template <typename Pixel>
Pixel stored(double v) {
  const double highest = sizeof(Pixel) == 1 ? 255 : 65535;
  return std::isnan(v) ? Pixel(0) : static_cast<Pixel>(std::round(std::clamp(v, 0.0, highest)));
}

/// Runs `call(in, out)` on padded images; `out` starts as a copy of the input.
template <typename T, typename Pixel, typename Call>
auto user_function(Call call) {
  return [call](const Job &job, Picture &source, int border) {
    Padded<T> in(job.width, job.height), out(job.width, job.height);
    for (int y = -kMargin; y < job.height + kMargin; ++y)
      for (int x = -kMargin; x < job.width + kMargin; ++x) {
        const int sx = walked(x, job.width, border), sy = walked(y, job.height, border);
        in.at(x, y) =
            static_cast<T>(sx < 0 || sy < 0 ? kBorderValue : double(source.at<Pixel>(sx, sy)));
        out.at(x, y) = in.at(x, y);
      }
    Padded<T> *result = call(job, in, out);
    if (!result) result = &out;
    Picture picture(job.width, job.height, sizeof(Pixel));
    for (int y = 0; y < job.height; ++y)
      for (int x = 0; x < job.width; ++x)
        picture.at<Pixel>(x, y) = stored<Pixel>(static_cast<double>(result->at(x, y)));
    return picture;
  };
}

/// The 3x3 median of the original samples. Table 3's own code would read pixels that it has already
/// written.
Padded<float> *median3x3(const Job &job, Padded<float> &in, Padded<float> &out) {
  for (int y = 0; y < job.height; ++y)
    for (int x = 0; x < job.width; ++x) {
      std::array<float, 9> v;
      for (int k = 0; k < 9; ++k) v[k] = in.at(x + k % 3 - 1, y + k / 3 - 1);
      std::nth_element(v.begin(), v.begin() + 4, v.end());
      out.at(x, y) = v[4];
    }
  return nullptr;
}

const std::vector<int> kAll{0, 1, 2, 3, 4}, kOne{0};
/// Border rules that need no filter of their own, as they are compiled into all others.
const std::vector<int> kTwo{0, 4};

/// For code that reads nothing outside the image: `call(job, in, out)` gets rows without gaps.
template <typename Call>
auto without_border(Call call) {
  return user_function<U16, U8>([call](const Job &job, auto &in, auto &out) -> Padded<U16> * {
    std::vector<U16> from, to(static_cast<std::size_t>(job.width) * job.height);
    for (int y = 0; y < job.height; ++y)
      for (int x = 0; x < job.width; ++x) from.push_back(in.at(x, y));
    call(job, from.data(), to.data());
    for (int y = 0; y < job.height; ++y)
      for (int x = 0; x < job.width; ++x) out.at(x, y) = to[y * job.width + x];
    return nullptr;
  });
}

}  // namespace

std::vector<Case> cases() {
  std::vector<Case> all;
  all.push_back({"table3",
                 "table3.cpp",
                 {},
                 "unsigned char",
                 kAll,
                 {{}},
                 user_function<float, U8>(median3x3),
                 true});
  all.push_back({"table7",
                 "table7.cpp",
                 {"--no-tiles"},
                 "unsigned char",
                 kOne,
                 {{}},
                 user_function<float, U8>(median3x3)});
  all.push_back(
      {"appendix_c",
       "appendix_c.cpp",
       {},
       "unsigned short",
       kTwo,
       {{}},
       user_function<float, U16>([](const Job &job, auto &in, auto &out) -> Padded<float> * {
         auto *f =
             job.library
                 ->function<void(float **, float **, U8 **, float *, int, int, int, int, int, int)>(
                     "_Z6filterPPfS0_PPhS_iiiiii");
         f(in.rows(), out.rows(), nullptr, nullptr, job.width, job.height, 0, 0, 0, 0);
         return nullptr;
       })});
  all.push_back(
      {"camera",
       "camera.cpp",
       {},
       "unsigned char",
       {2, 3},
       {{{"n_roi", 2}}},
       user_function<float, U8>([](const Job &job, auto &in, auto &out) -> Padded<float> * {
         auto *f =
             job.library->function<void(float **, float *, float **, int, int, int)>("denoise");
         f(in.rows(1), nullptr, out.rows(1), job.width, job.height, 2);
         return nullptr;
       })});
  for (const int window : {3, 5})
    all.push_back(
        {"rank" + std::to_string(window),
         "rank.cpp",
         {"--set", "win=" + std::to_string(window), "--set",
          "rank=" + std::to_string(window * window / 2 + 1)},
         "unsigned char",
         window == 3 ? kAll : kOne,
         {{}},
         user_function<U8, U8>([window](const Job &job, auto &in, auto &out) -> Padded<U8> * {
           auto *f = job.library->function<void(const U8 *, U8 *, int, int, int, int)>("rank");
           const int w = in.full_width(), h = in.full_height();
           std::vector<U8> tall(static_cast<std::size_t>(w) * (h + 8));
           std::copy(in.all(), in.all() + w * h, &tall[4 * w]);
           std::vector<U8> result(tall.size());
           f(&tall[4 * w], &result[4 * w], w, h, window, window * window / 2 + 1);
           std::copy(&result[4 * w], &result[(4 + h) * w], out.all());
           return nullptr;
         }),
         window == 5});
  for (const int r : {1, 2})
    all.push_back(
        {"opening" + std::to_string(r),
         "opening.c",
         {"--set", "r=" + std::to_string(r)},
         "unsigned short",
         kOne,
         {{}},
         user_function<double, U16>([r](const Job &job, auto &in, auto &out) -> Padded<double> * {
           using Image = double[640];
           auto *f =
               job.library->function<void(Image *, Image *, Image *, int, int, int)>("opening");
           std::vector<double> a(640 * 480), b(640 * 480), c(640 * 480);
           for (int y = 0; y < job.height; ++y)
             for (int x = 0; x < job.width; ++x)
               a[y * 640 + x] = b[y * 640 + x] = c[y * 640 + x] = in.at(x, y);
           const auto image = [](auto &v) { return reinterpret_cast<Image *>(v.data()); };
           f(image(a), image(b), image(c), job.height, job.width, r);
           for (int y = 0; y < job.height; ++y)
             for (int x = 0; x < job.width; ++x) out.at(x, y) = c[y * 640 + x];
           return nullptr;
         })});
  all.push_back(
      {"accumulate",
       "accumulate.cpp",
       {},
       "unsigned char",
       kAll,
       {{}, {{"k", 90}}},
       user_function<float, U8>([](const Job &job, auto &in, auto &out) -> Padded<float> * {
         auto *f = job.library->function<void(float **, float **, int, int, float)>("convolve");
         const float k = job.values.count("k") ? 90 : 40;
         f(in.rows(), out.rows(), job.width, job.height, k);
         return nullptr;
       }),
       true});
  all.push_back(
      {"swapped",
       "swapped.cpp",
       {},
       "unsigned char",
       kOne,
       {{}},
       user_function<float, U8>([](const Job &job, auto &in, auto &out) -> Padded<float> * {
         auto *f =
             job.library->function<void(float **, float **, std::size_t, std::size_t)>("swapped");
         f(in.rows(), out.rows(), job.width, job.height);
         return nullptr;
       })});
  all.push_back({"steps",
                 "steps.cpp",
                 {},
                 "unsigned short",
                 kTwo,
                 {{}},
                 user_function<int, U16>([](const Job &job, auto &in, auto &out) -> Padded<int> * {
                   auto *f = job.library->function<void(int **, int **, int, int)>("steps");
                   f(in.rows(), out.rows(), job.width, job.height);
                   return nullptr;
                 })});
  all.push_back(
      {"language",
       "language.cpp",
       {},
       "unsigned char",
       {0, 2},
       {{{"mode", 0}, {"gain", 0.75}}, {{"mode", 1}, {"gain", 1}}},
       user_function<float, U8>([](const Job &job, auto &in, auto &out) -> Padded<float> * {
         auto *f =
             job.library->function<void(float **, float **, int, int, int, float)>("language");
         f(in.rows(), out.rows(), job.width, job.height, static_cast<int>(job.values.at("mode")),
           static_cast<float>(job.values.at("gain")));
         return nullptr;
       })});
  all.push_back({"clamped",
                 "clamped.cpp",
                 {},
                 "unsigned char",
                 kOne,
                 {{}},
                 user_function<U8, U8>([](const Job &job, auto &in, auto &out) -> Padded<U8> * {
                   auto *f = job.library->function<void(const U8 *, U8 *, int, int)>("clamped");
                   std::vector<U8> a, b(static_cast<std::size_t>(job.width) * job.height);
                   for (int y = 0; y < job.height; ++y)
                     for (int x = 0; x < job.width; ++x) a.push_back(in.at(x, y));
                   f(a.data(), b.data(), job.width, job.height);
                   for (int y = 0; y < job.height; ++y)
                     for (int x = 0; x < job.width; ++x) out.at(x, y) = b[y * job.width + x];
                   return nullptr;
                 })});
  // Each image in the chain has the border rule, so the margin must be filled again after each
  // iteration.
  all.push_back(
      {"erode",
       "erode.cpp",
       {},
       "unsigned char",
       kTwo,
       {{{"n", 1}}, {{"n", 0}}},
       user_function<short, U8>([](const Job &job, auto &in, auto &out) -> Padded<short> * {
         auto *f = job.library->function<void(short **, short **, int, int, int)>("erode");
         const int n = static_cast<int>(job.values.at("n"));
         f(in.rows(), out.rows(), job.width, job.height, n);
         return n % 2 ? &out : &in;
       })});
  all.push_back(
      {"registers",
       "registers.cpp",
       {},
       "unsigned char",
       {1, 4},
       {{}},
       user_function<float, U8>([](const Job &job, auto &in, auto &out) -> Padded<float> * {
         auto *f = job.library->function<void(float **, float **, int, int)>("registers");
         f(in.rows(), out.rows(), job.width, job.height);
         return nullptr;
       })});
  all.push_back(
      {"shift",
       "shift.cpp",
       {},
       "unsigned char",
       kAll,
       {{}},
       user_function<float, U8>([](const Job &job, auto &in, auto &out) -> Padded<float> * {
         auto *f = job.library->function<void(float **, float **, int, int)>("shift");
         f(in.rows(), out.rows(), job.width, job.height);
         return nullptr;
       })});
  all.push_back({"points",
                 "points.cpp",
                 {},
                 "unsigned short",
                 kOne,
                 {{}},
                 user_function<U16, U16>([](const Job &job, auto &in, auto &out) -> Padded<U16> * {
                   using Row = U16[64];
                   auto *f = job.library->function<void(Row *, int, int)>("points");
                   std::vector<U16> a(64 * 64);
                   for (int y = 0; y < job.height; ++y)
                     for (int x = 0; x < job.width; ++x) a[y * 64 + x] = in.at(x, y);
                   f(reinterpret_cast<Row *>(a.data()), job.width, job.height);
                   for (int y = 0; y < job.height; ++y)
                     for (int x = 0; x < job.width; ++x) out.at(x, y) = a[y * 64 + x];
                   return nullptr;
                 }),
                 false,
                 64});
  all.push_back(
      {"recursive_erosion",
       GSWO_EXAMPLES "/recursive_erosion.cpp",
       {"--set", "window=3"},
       "unsigned char",
       kOne,
       {{}, {{"doublings", 3}}, {{"doublings", 0}}},
       without_border([](const Job &job, const U16 *in, U16 *out) {
         auto *f =
             job.library->function<void(const U16 *, U16 *, U16 *, U16 *, int, int, int, int)>(
                 "_Z17recursive_erosionPKtPtS1_S1_iiii");
         std::vector<U16> a(job.width * job.height), b(a);
         const int doublings = job.values.count("doublings") ? int(job.values.at("doublings")) : 15;
         f(in, a.data(), b.data(), out, job.width, job.height, 3, doublings);
       })});
  all.push_back({"camera_fingerprint",
                 GSWO_EXAMPLES "/camera_fingerprint.cpp",
                 {},
                 "unsigned char",
                 kOne,
                 {{}, {{"regions", 3}}},
                 without_border([](const Job &job, const U16 *in, U16 *out) {
                   auto *f =
                       job.library->function<void(const U16 *, U16 *, U16 *, int, int, int, int)>(
                           "_Z18camera_fingerprintPKtPtS1_iiii");
                   std::vector<U16> denoised(job.width * job.height);
                   f(in, denoised.data(), out, job.width, job.height,
                     job.values.count("regions") ? 3 : 4, 255);
                 })});
  return all;
}

}  // namespace cudascan::gswo::test
