// SPDX-License-Identifier: LGPL-2.1-or-later
// Users' functions compared with the same functions compiled into the test. These get a window that
// follows the text of kernels/gswo/window.h.
#include <algorithm>
#include <cmath>

#include "kernels/swofilter/window.h"
#include "tests/kernels/swofilter/window_oracle.h"
#include "tests/usercode/custom.h"

namespace cudascan {
namespace {

using namespace test;

/// The window of a pixel.
class OracleWindow {
 public:
  const int x, y, width, height, maximum;

  template <typename T>
  OracleWindow(const Image<T> &image, const swo::FilterJob &job, int x, int y)
      : x(x),
        y(y),
        width(image.width()),
        height(image.height()),
        maximum(static_cast<int>(job.maximum >> job.shift)),
        level_([&image, &job](int column, int row) {
          using window_oracle::inside;
          const bool clips = job.border == Border::clip;
          const auto border = clips ? Border::replicate : job.border;
          const int c = inside(column, image.width(), border),
                    r = inside(row, image.height(), border);
          if (c == image.width() || r == image.height())
            return static_cast<float>(job.outside >> job.shift);
          return static_cast<float>(image.at(c, r) >> job.shift);
        }) {
    const swo::Mask &mask = job.mask();
    for (int row = 0; row < mask.height; ++row)
      for (int column = 0; column < mask.width; ++column) {
        if (mask.at(column, row) != swo::Mask::on) continue;
        const int dx = column - mask.rx(), dy = row - mask.ry();
        const bool outside = x + dx < 0 || x + dx >= width || y + dy < 0 || y + dy >= height;
        if (outside && job.border == Border::clip) continue;
        sorted_.push_back(level_(x + dx, y + dy));
      }
    std::sort(sorted_.begin(), sorted_.end());
  }

  operator float() const { return level_(x, y); }
  float operator()(int dx, int dy) const { return level_(x + dx, y + dy); }
  int count() const { return static_cast<int>(sorted_.size()); }
  float min() const { return rank(0); }
  float max() const { return rank(count() - 1); }
  float sum() const { return static_cast<float>(exact_sum()); }
  float mean() const {
    return sorted_.empty() ? float(*this) : static_cast<float>(exact_sum() / count());
  }
  float variance() const {
    double squares = 0;
    for (const float level : sorted_) squares += static_cast<double>(level) * level;
    const double s = exact_sum(), n = count();
    return sorted_.empty() ? 0.f : static_cast<float>((n * squares - s * s) / (n * n));
  }
  float deviation() const { return std::sqrt(variance()); }
  float rank(int k) const {
    return sorted_.empty() ? float(*this) : sorted_[std::clamp(k, 0, count() - 1)];
  }
  float median() const { return rank(count() / 2); }
  float percentile(float q) const { return rank(static_cast<int>(count() * q / 100)); }

 private:
  double exact_sum() const {
    double s = 0;
    for (const float level : sorted_) s += level;
    return s;
  }

  std::function<float(int, int)> level_;
  std::vector<float> sorted_;
};

/// Converts a result to a sample.
template <typename T, typename R>
T to_sample(R result, const swo::FilterJob &job) {
  const auto value = static_cast<double>(result);
  if (std::isnan(value)) return 0;
  const double top = job.maximum >> job.shift;
  if (value <= 0) return 0;
  // Rounds in the precision of the result, as users' code does.
  const double rounded = std::is_same_v<R, float> ? std::floor(static_cast<float>(value) + 0.5f)
                                                  : std::floor(value + 0.5);
  return static_cast<T>(static_cast<unsigned>(value >= top ? top : rounded) << job.shift);
}

template <typename T, typename Filter>
std::vector<T> expected(const Image<T> &in, const SwoFilterParams &p, Filter filter) {
  const swo::FilterJob job =
      swo::make_job(p, in.plane().maximum, in.width(), in.height(), in.width(), in.height(), true);
  std::vector<T> samples;
  for (int y = 0; y < in.height(); ++y)
    for (int x = 0; x < in.width(); ++x)
      samples.push_back(to_sample<T>(+filter(OracleWindow(in, job, x, y)), job));
  return samples;
}

/// Defines the same code for the compiler of the tests and as text for run().
#define USER_CODE(name, ...) \
  namespace name {           \
  using namespace std;       \
  __VA_ARGS__                \
  }                          \
  const char *const name##_text = #__VA_ARGS__;

[[maybe_unused]] constexpr int radius = 2;
[[maybe_unused]] float amount = 1.25f;

USER_CODE(
    sharpen, float filter(auto p) { return p + amount * (p - p.mean()); })
USER_CODE(
    sobel, static float square(float v) { return v * v; } float filter(const auto &p) {
      const float right = p(1, -1) + 2 * p(1, 0) + p(1, 1),
                  left = p(-1, -1) + 2 * p(-1, 0) + p(-1, 1);
      const float below = p(-1, 1) + 2 * p(0, 1) + p(1, 1),
                  above = p(-1, -1) + 2 * p(0, -1) + p(1, -1);
      return sqrt(square(right - left) + square(below - above)) / 4;
    })
USER_CODE(
    sorted,
    template <typename T> void order(T &a, T &b) {
      if (b < a) swap(a, b);
    } int filter(auto p) {
      float v[9];
      int n = 0;
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) v[n++] = p(dx, dy);
      sort(v, v + 9);
      order(v[4], v[3]);
      return static_cast<int>(v[4]);
    })
USER_CODE(
    convolve, const float kWeights[3][3] = {{1, 2, 1}, {2, 4, 2}, {1, 2, 1}};
    static constexpr int kNorm = 16; struct Sum {
      double total = 0;
      void add(double v) {
        total += v;
      }
    };
    double filter(auto p) {
      Sum sum;
      for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) sum.add(kWeights[i][k] * p(k - 1, i - 1));
      return sum.total / kNorm;
    })
USER_CODE(
    smooth, float filter(auto p) {
      float sum = 0, weights = 0;
      for (int dy = -radius; dy <= radius; ++dy)
        for (int dx = -radius; dx <= radius; ++dx) {
          const float d = p(dx, dy) - p;
          const float w = exp(-d * d / 800 - (dx * dx + dy * dy) / 4.0f);
          sum += w * p(dx, dy);
          weights += w;
        }
      return sum / weights;
    })
USER_CODE(
    direction, float filter(auto p) {
      const float a = atan2(p(0, 1) - p(0, -1), p(1, 0) - p(-1, 0));
      return fmod(a + 6.2831853f, 3.1415927f) * 40 + pow(p / 32, 2) + log(p + 1) + sin(p) + cos(p);
    })
USER_CODE(
    adaptive, float filter(auto p) {
      int below = 0;
      while (below < p.width && below < 9 && p(0, below) < p.maximum / 2) ++below;
      if (below > 5) return p.deviation();
      return p.max() - abs(p.x - p.y) % 7;
    })

template <typename T, typename Runner>
void expect_functions(Runner &runner, const Image<T> &in) {
  Border border = Border::clip;
  const auto expect = [&](const char *name, const char *text, auto filter, int window) {
    const TemporaryFile file(text);
    for (int i = 0; i < 2; ++i) {
      border = kBorders[(static_cast<int>(border) + 1) % 4];
      const SwoFilterParams p = code(file.path(), window, border);
      EXPECT_TRUE(same(expected(in, p, filter), filtered(runner, in, p), in.width()))
          << name << ", border " << static_cast<int>(border);
    }
  };
#define EXPECT_FUNCTION(name, window) \
  expect(                             \
      #name, name##_text, [](const OracleWindow &p) { return name::filter(p); }, window)
  EXPECT_FUNCTION(sharpen, 5);
  EXPECT_FUNCTION(sobel, 3);
  EXPECT_FUNCTION(sorted, 3);
  EXPECT_FUNCTION(convolve, 1);
  EXPECT_FUNCTION(smooth, 5);
  EXPECT_FUNCTION(smooth, 3);
  EXPECT_FUNCTION(direction, 3);
  EXPECT_FUNCTION(adaptive, 15);
}

TEST(SwoFilterCustom, FunctionsGiveWhatAnotherCompilerMakesOfThem) {
  CpuRunner cpu(2);
  expect_functions(cpu, picture(300, 37));
}

TEST(SwoFilterCustom, DeepFunctionsGiveWhatAnotherCompilerMakesOfThem) {
  CpuRunner cpu(1);
  expect_functions(cpu, deep_picture(75, 29));
}

#ifdef HAVE_CUDA
TEST(SwoFilterCustomCuda, FunctionsGiveWhatAnotherCompilerMakesOfThem) {
  NEED_GPU();
  CudaRunner cuda;
  expect_functions(cuda, picture(75, 53));
  expect_functions(cuda, deep_picture(67, 35));
}
#endif

TEST(SwoFilterCustom, TakesTheFunctionThatIsNamed) {
  CpuRunner cpu(1);
  const TemporaryFile file(
      "#include <cmath>\n#include <algorithm>\nstatic int seven() { return 7; }\n"
      "float filter(auto p) { return std::sqrt(49.f); }\nfloat other(auto p) { return p + seven(); "
      "}\n");
  SwoFilterParams p = code(file.path());
  const auto in = picture(4, 4, Content::gray);
  EXPECT_EQ(7, filtered(cpu, in, p)[0]);
  p.custom.function = "other";
  EXPECT_EQ(127 + 7, filtered(cpu, in, p)[0]);
  p.custom.function = "none";
  EXPECT_CONTAINS(refusal(cpu, p), "it has no function none");
}

}  // namespace
}  // namespace cudascan
