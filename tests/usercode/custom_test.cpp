// SPDX-License-Identifier: LGPL-2.1-or-later
// Users' own code: known values, the built-in operators, and the same functions compiled by the
// compiler of the tests, called with a window that is written from the text of
// kernels/gswo/window.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include "kernels/swofilter.h"
#include "kernels/swofilter/window.h"
#include "tests/kernels/operator_test.h"
#include "tests/kernels/swofilter/window_oracle.h"
#include "tests/usercode/support.h"

namespace cudascan {
namespace {

using namespace test;
using Op = SwoFilterOperator;
using Border = SwoFilterBorder;

constexpr Border kBorders[] = {Border::clip, Border::replicate, Border::reflect, Border::constant};

// ---- What a window is ---------------------------------------------------------------------------

/// The window of a pixel.
class OracleWindow {
 public:
  const int x, y, width, height, maximum;

  template <typename T>
  OracleWindow(const Image<T> &image, const swo::Job &job, int x, int y)
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

/// What becomes of a result.
template <typename T, typename R>
T to_sample(R result, const swo::Job &job) {
  const auto value = static_cast<double>(result);
  if (std::isnan(value)) return 0;
  const double top = job.maximum >> job.shift;
  if (value <= 0) return 0;
  // In the precision of the result, as code does it.
  const double rounded = std::is_same_v<R, float> ? std::floor(static_cast<float>(value) + 0.5f)
                                                  : std::floor(value + 0.5);
  return static_cast<T>(static_cast<unsigned>(value >= top ? top : rounded) << job.shift);
}

template <typename T, typename Filter>
std::vector<T> expected(const Image<T> &in, const SwoFilterParams &p, Filter filter) {
  const swo::Job job =
      swo::make_job(p, in.plane().maximum, in.width(), in.height(), in.width(), in.height(), true);
  std::vector<T> samples;
  for (int y = 0; y < in.height(); ++y)
    for (int x = 0; x < in.width(); ++x)
      samples.push_back(to_sample<T>(+filter(OracleWindow(in, job, x, y)), job));
  return samples;
}

template <typename T, typename Runner>
std::vector<T> filtered(Runner &runner, const Image<T> &in, const SwoFilterParams &p) {
  Image<T> out(in.width(), in.height(), {}, in.plane().maximum);
  runner(in, out, p);
  return out.samples();
}

SwoFilterParams formula(const std::string &expression, int window = 3,
                        Border border = Border::clip) {
  SwoFilterParams p{.op = Op::custom, .window = window, .border = border, .border_value = 77};
  p.expression = expression;
  p.cache_dir = "";
  return p;
}

Image<std::uint8_t> picture(int width, int height, Content content = Content::text) {
  return Image<std::uint8_t>(make_content<std::uint8_t>(content, width, height, 0xff), width,
                             height);
}
Image<std::uint16_t> deep_picture(int width, int height) {
  return Image<std::uint16_t>(make_content<std::uint16_t>(Content::random, width, height, 0xffc0),
                              width, height, {}, 0xffc0);
}

/// What run() refuses with.
template <typename Runner>
std::string refusal(Runner &runner, const SwoFilterParams &p) {
  const auto in = picture(5, 4);
  try {
    filtered(runner, in, p);
  } catch (const BadSetting &e) {
    return e.what();
  }
  return "";
}

#define EXPECT_CONTAINS(text, part)               \
  EXPECT_NE((text).find(part), std::string::npos) \
      << "\"" << (text) << "\" without \"" << (part) << '"'

// ---- Formulas -----------------------------------------------------------------------------------

TEST(SwoFilterCustom, KnownValues) {
  CpuRunner cpu(1);
  const Image<std::uint8_t> in({10, 20, 30, 40, 50, 60, 70, 80, 255}, 3, 3);
  const auto middle = [&](const std::string &expression) {
    return +filtered(cpu, in, formula(expression))[4];
  };
  EXPECT_EQ(50, middle("p"));
  EXPECT_EQ(10, middle("p.min()"));
  EXPECT_EQ(255, middle("p.max()"));
  EXPECT_EQ(50, middle("p.median()"));
  EXPECT_EQ(68, middle("p.mean()"));  // 615 / 9 = 68.3
  EXPECT_EQ(9, middle("p.count()"));
  EXPECT_EQ(30, middle("p(1, -1)"));
  EXPECT_EQ(11, middle("x + 10 * y"));
  EXPECT_EQ(33, middle("width + height * 10"));
  EXPECT_EQ(133, middle("x / width * 400"));
  EXPECT_EQ(255, middle("x / (y - 1)"));
  EXPECT_EQ(255, middle("maximum"));
  EXPECT_EQ(205, middle("maximum - p"));
  EXPECT_EQ(1, middle("p > 49"));
  EXPECT_EQ(0, middle("p > 50"));
  EXPECT_EQ(50, middle("min(max(p, 20), 60)"));
  EXPECT_EQ(7, middle("sqrt(p)"));
  EXPECT_EQ(71, middle("p * sqrtf(2)"));  // 70.7
  EXPECT_EQ(20, middle("p.rank(1)"));
  EXPECT_EQ(255, middle("p.rank(1000)"));
}

TEST(SwoFilterCustom, ResultsAreRoundedAndEndAtTheLimits) {
  CpuRunner cpu(1);
  const auto in = picture(1, 1, Content::gray);  // 127
  const auto result = [&](const std::string &expression) {
    return +filtered(cpu, in, formula(expression))[0];
  };
  EXPECT_EQ(64, result("p * 0.5"));  // 63.5, halves up
  EXPECT_EQ(64, result("p * 0.5f"));
  EXPECT_EQ(63, result("p * 0.49999"));
  EXPECT_EQ(0, result("-p"));
  EXPECT_EQ(0, result("0.4999999f"));
  EXPECT_EQ(255, result("p * 1e30f"));
  EXPECT_EQ(255, result("p / 0"));
  EXPECT_EQ(0, result("(p - 127) / 0.0f"));  // no number
  EXPECT_EQ(255, result("5000000000ll"));
  EXPECT_EQ(0, result("-5000000000ll"));
  EXPECT_EQ(255, result("3000000000u"));
  EXPECT_EQ(255, result("p.max() > 3 ? 1e300 : 0"));
}

struct BuiltIn {
  const char *expression;
  SwoFilterParams params;
};
const BuiltIn kBuiltIns[] = {
    {"p.min()", {.op = Op::minimum, .window = 5}},
    {"p.max()", {.op = Op::maximum, .window = 3, .shape = "100;000;000"}},
    {"p.median()", {.op = Op::median, .window = 3}},
    {"p.median()", {.op = Op::median, .window = 7, .shape = "ellipse"}},
    {"p.median()", {.op = Op::median, .window = 13, .window_width = 11}},
    {"p.mean()", {.op = Op::mean, .window = 5, .window_height = 3}},
    {"p.mean()", {.op = Op::mean, .window = 17, .shape = "cross"}},
    {"p.percentile(30)", {.op = Op::rank, .window = 5, .percentile = 30}},
};

template <typename T, typename Runner>
void expect_built_ins(Runner &runner, const Image<T> &in) {
  CpuRunner cpu;
  int turn = in.width();
  for (const BuiltIn &built_in : kBuiltIns)
    for (const Border border : {kBorders[turn++ % 4], kBorders[turn % 4]}) {
      SwoFilterParams p = built_in.params;
      p.border = border;
      p.border_value = 77;
      const auto expected = filtered(cpu, in, p);
      p.op = Op::custom;
      p.expression = built_in.expression;
      p.cache_dir = "";
      EXPECT_TRUE(same(expected, filtered(runner, in, p), in.width()))
          << built_in.expression << ", window " << p.window << ", shape " << p.shape << ", border "
          << static_cast<int>(border);
    }
}

TEST(SwoFilterCustom, WindowsAreThoseOfTheBuiltInOperators) {
  CpuRunner cpu(2);
  expect_built_ins(cpu, picture(301, 41, Content::random));
  expect_built_ins(cpu, picture(2, 3, Content::random));
}

TEST(SwoFilterCustom, DeepWindowsAreThoseOfTheBuiltInOperators) {
  CpuRunner cpu(2);
  expect_built_ins(cpu, deep_picture(91, 23));
}

#ifdef HAVE_CUDA
TEST(SwoFilterCustomCuda, WindowsAreThoseOfTheBuiltInOperators) {
  NEED_GPU();
  CudaRunner cuda;
  expect_built_ins(cuda, picture(131, 41, Content::random));
  expect_built_ins(cuda, deep_picture(70, 67));
}
#endif

// ---- Functions ----------------------------------------------------------------------------------

/// The same text for the compiler of the tests and for run().
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

/// A file that is gone with its owner.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string &text) { write(text); }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  std::string path() const { return path_; }
  /// As editors do: a new file takes the place of the old one.
  void write(const std::string &text) {
    const std::string other = path_ + "~";
    std::ofstream(other) << text;
    std::filesystem::rename(other, path_);
  }

 private:
  static std::string new_path() {
    static int count = 0;
    return (std::filesystem::temp_directory_path() /
            ("swofilter-custom-" + std::to_string(getpid()) + "-" + std::to_string(count++) +
             ".cpp"))
        .string();
  }
  std::string path_ = new_path();
};

SwoFilterParams code(const std::string &path, int window = 3, Border border = Border::clip) {
  SwoFilterParams p = formula("", window, border);
  p.source = path;
  p.constants = {{"radius", std::int64_t{2}}, {"amount", 1.25}};
  return p;
}

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
  p.function = "other";
  EXPECT_EQ(127 + 7, filtered(cpu, in, p)[0]);
  p.function = "none";
  EXPECT_CONTAINS(refusal(cpu, p), "it has no function none");
}

// ---- Constants ----------------------------------------------------------------------------------

TEST(SwoFilterCustom, EachRunHasItsConstants) {
  CpuRunner one(1), two(1);
  const auto in = picture(3, 3, Content::gray);
  SwoFilterParams p = formula("gain * p + offset");
  for (const double gain : {0.5, 2.0, 0.25}) {
    p.constants = {{"gain", gain}, {"offset", std::int64_t{3}}};
    EXPECT_EQ(static_cast<int>(gain * 127 + 3.5),
              std::min(257, +filtered(one, in, p)[0] + (gain == 2.0) * 2));
    p.constants = {{"gain", 1.0}, {"offset", std::int64_t{3}}};
    EXPECT_EQ(130, filtered(two, in, p)[0]);
  }
  p.constants = {{"gain", 1.0}, {"offset", std::int64_t{4}}};
  EXPECT_EQ(131, filtered(one, in, p)[0]);
}

TEST(SwoFilterCustom, IntegersCanBeSizes) {
  CpuRunner cpu(1);
  const TemporaryFile file(
      "int filter(auto p) { int v[n]; for (int i = 0; i < n; ++i) v[i] = i; return v[n - 1]; }");
  SwoFilterParams p = code(file.path());
  p.constants = {{"n", std::int64_t{42}}};
  EXPECT_EQ(41, filtered(cpu, picture(1, 1), p)[0]);
}

#ifdef HAVE_CUDA
TEST(SwoFilterCustomCuda, EachRunHasItsConstants) {
  NEED_GPU();
  CudaRunner one, two;
  const auto in = picture(3, 3, Content::gray);
  SwoFilterParams p = formula("gain * p");
  for (const double gain : {0.5, 1.5, 0.25}) {
    p.constants = {{"gain", gain}};
    EXPECT_EQ(static_cast<int>(gain * 127 + 0.5), filtered(one, in, p)[0]);
    p.constants = {{"gain", 1.0}};
    EXPECT_EQ(127, filtered(two, in, p)[0]);
  }
}
#endif

// ---- What is refused ----------------------------------------------------------------------------

TEST(SwoFilterCustom, MistakesAreExplained) {
  CpuRunner cpu(1);
  EXPECT_CONTAINS(refusal(cpu, formula("")), "expression and source are empty");
  SwoFilterParams both = formula("p");
  both.source = "x.cpp";
  EXPECT_CONTAINS(refusal(cpu, both), "expression and source are both set");
  EXPECT_CONTAINS(refusal(cpu, formula("(p")), "expression = \"(p\": its brackets do not match");
  EXPECT_CONTAINS(refusal(cpu, formula("p) + (p")), "brackets");
  EXPECT_CONTAINS(refusal(cpu, formula("p } int main() { return 0")), "brackets");
  EXPECT_CONTAINS(refusal(cpu, formula("p; 3")), "no # \\ \" and ;");
  EXPECT_CONTAINS(refusal(cpu, formula("p.foo()")), "expression:1:");
  EXPECT_CONTAINS(refusal(cpu, formula("p.foo()")), "foo");
  EXPECT_EQ(refusal(cpu, formula("p.foo()")).find('\n'), std::string::npos)
      << "one mistake, one line";
  SwoFilterParams named = formula("p");
  named.constants = {{"a b", 1.0}};
  EXPECT_CONTAINS(refusal(cpu, named), "\"a b\" is no name");
  named.constants = {{"int", 1.0}};
  EXPECT_NE("", refusal(cpu, named));
}

TEST(SwoFilterCustom, MistakesInFilesAreExplained) {
  CpuRunner cpu(1);
  const TemporaryFile file("// nothing\n\nfloat filter(auto p) {\n  return p + missing;\n}\n");
  EXPECT_CONTAINS(refusal(cpu, code(file.path())), file.path() + ":4:");
  EXPECT_CONTAINS(refusal(cpu, code("/no/such/file.cpp")),
                  "source = /no/such/file.cpp: No such file");
  EXPECT_CONTAINS(refusal(cpu, code("/")), "it is no file");
  const TemporaryFile empty("");
  EXPECT_CONTAINS(refusal(cpu, code(empty.path())), "it has no function filter");
  const TemporaryFile other(
      "float myfilter(auto p) { return p; }\nfloat filters(auto p) { return p; }\n" +
      std::string(500000, ' '));
  EXPECT_CONTAINS(refusal(cpu, code(other.path())), "it has no function filter");
  const TemporaryFile program("#include <algorithm>\n#include \"gswo_host.h\"\nvoid filter() {}\n");
  EXPECT_CONTAINS(refusal(cpu, code(program.path())), "give the file that it was made from");
  const TemporaryFile emitted("");
  SwoFilterParams written = formula("p");
  written.emit_cuda = emitted.path();
  EXPECT_EQ(refusal(cpu, written), "");
  EXPECT_CONTAINS(refusal(cpu, code(emitted.path())), "is what emit-cuda writes");
  const TemporaryFile prints("float filter(auto p) {\n  printf(\"x\");\n  return p;\n}\n");
  EXPECT_CONTAINS(refusal(cpu, code(prints.path())), prints.path() + ":2:");
  EXPECT_CONTAINS(refusal(cpu, code(prints.path())), "printf");
  const TemporaryFile large(std::string((1 << 20) + 1, ' '));
  EXPECT_CONTAINS(refusal(cpu, code(large.path())), "larger than 1 MiB");
  const TemporaryFile nothing("void filter(auto p) {}");
  EXPECT_CONTAINS(refusal(cpu, code(nothing.path())), "the filter has to return a number");
  const TemporaryFile includes("#include <vector>\nfloat filter(auto p) { return p; }");
  EXPECT_CONTAINS(refusal(cpu, code(includes.path())), "vector");
}

TEST(SwoFilterCustom, WritesTheCodeForTheGpu) {
  CpuRunner cpu(1);
  TemporaryFile file("");
  SwoFilterParams p = formula("p.max() - 17");
  p.emit_cuda = file.path();
  EXPECT_EQ("", refusal(cpu, p));
  const std::string text = read_file(file.path());
  EXPECT_CONTAINS(text, "p.max() - 17");
  EXPECT_CONTAINS(text, "#define GSWO_BLOCK_HEIGHT");
  p.emit_cuda = "/no/such/folder/x.cu";
  EXPECT_CONTAINS(refusal(cpu, p), "emit-cuda = /no/such/folder/x.cu: No such file or directory");
}

TEST(SwoFilterCustom, KeepsCodeInTheFolder) {
  const gswo::PrivateFolder folder;
  SwoFilterParams p = formula("p + 3");
  p.cache_dir = folder.path();
  CpuRunner cpu(1);
  EXPECT_EQ("", refusal(cpu, p));
  EXPECT_EQ(files_in(folder.path()).size(), 1u);
}

TEST(SwoFilterCustom, TuningIsForGpus) {
  const gswo::PrivateFolder folder;
  SwoFilterParams p = formula("p + 4");
  p.cache_dir = folder.path();
  p.tune = true;
  CpuRunner cpu(1);
  EXPECT_EQ("", refusal(cpu, p));
  EXPECT_EQ(files_in(folder.path()).size(), 1u);
}
#ifdef HAVE_CUDA
TEST(SwoFilterCustomCuda, TuningIsRemembered) {
  NEED_GPU();
  const gswo::PrivateFolder folder, emitted;
  SwoFilterParams p = formula("p.max() + p(1, -1)");
  p.cache_dir = folder.path();
  const auto in = picture(67, 31);
  CpuRunner cpu(1);
  const auto expected = filtered(cpu, in, p);
  const std::size_t of_cpu = files_in(folder.path()).size();
  p.tune = true;
  std::vector<std::string> sources;
  std::vector<std::size_t> files;
  for (const char *name : {"first.cu", "second.cu"}) {
    p.emit_cuda = emitted.path() + '/' + name;
    CudaRunner cuda;
    EXPECT_EQ(filtered(cuda, in, p), expected) << name;
    sources.push_back(read_file(p.emit_cuda));
    files.push_back(files_in(folder.path()).size());
  }
  EXPECT_EQ(sources[0], sources[1]);
  EXPECT_GT(files[0], of_cpu + 5) << "several variants, and which was the fastest";
  EXPECT_EQ(files[0], files[1]);
}
#endif

TEST(SwoFilterCustom, CanBeTurnedOff) {
  CpuRunner cpu(1);
  const Variable off("CUDASCAN_NO_USER_CODE", "1");
  EXPECT_CONTAINS(refusal(cpu, formula("p")), "CUDASCAN_NO_USER_CODE");
}

TEST(SwoFilterCustom, OtherOperatorsDoNotMind) {
  CpuRunner cpu(1);
  SwoFilterParams p = formula("this is nothing");
  p.op = Op::minimum;
  EXPECT_EQ("", refusal(cpu, p));
}

// ---- New code while frames flow -----------------------------------------------------------------

/// Calls `done` until it returns true; false after a minute.
bool soon(const std::function<bool()> &done) {
  for (int i = 0; i < 6000; ++i) {
    if (done()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST(SwoFilterCustom, PreparesWithoutWaiting) {
  Cpu cpu(1);
  const SwoFilterParams p = formula("p + 17");
  EXPECT_FALSE(prepare(cpu, 1, 0xff, p));
  EXPECT_TRUE(soon([&] { return prepare(cpu, 1, 0xff, p); }));
  EXPECT_TRUE(prepare(cpu, 1, 0xff, {})) << "a built-in operator";
  EXPECT_TRUE(prepare(cpu, 1, 0xff, formula("p)"))) << "run() would throw";
}

TEST(SwoFilterCustom, FollowsTheFile) {
  Cpu cpu(1);
  TemporaryFile file("int filter(auto p) { return 1; }");
  SwoFilterParams p = code(file.path());
  p.reload = true;
  const auto in = picture(2, 2);
  const auto result = [&] {
    Image<std::uint8_t> out(2, 2);
    run(cpu, in.plane(), out.plane(), p);
    return +out.at(0, 0);
  };
  EXPECT_EQ(1, result());
  file.write("int filter(auto p) { return 2; }");
  EXPECT_TRUE(soon([&] { return result() == 2; }));
  EXPECT_EQ("", take_warning(cpu));

  file.write("int filter(auto p) { return 3 + nothing; }");
  std::string warning;
  EXPECT_TRUE(soon([&] {
    EXPECT_EQ(2, result());
    warning = take_warning(cpu);
    return !warning.empty();
  }));
  EXPECT_CONTAINS(warning, "nothing");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(2, result());
  EXPECT_EQ("", take_warning(cpu)) << "told once";

  std::filesystem::remove(file.path());
  EXPECT_EQ(2, result());
  EXPECT_CONTAINS(take_warning(cpu), "No such file");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(2, result());
  EXPECT_EQ("", take_warning(cpu)) << "told once";
  file.write("int filter(auto p) { return 4; }");
  EXPECT_TRUE(soon([&] { return result() == 4; }));
}

TEST(SwoFilterCustom, LeavesAFileAloneThatIsNotToBeFollowed) {
  Cpu cpu(1);
  TemporaryFile file("int filter(auto p) { return 1; }");
  const auto in = picture(2, 2);
  Image<std::uint8_t> out(2, 2);
  for (int i = 0; i < 3; ++i) {
    run(cpu, in.plane(), out.plane(), code(file.path()));
    EXPECT_EQ(1, out.at(0, 0));
    file.write("int filter(auto p) { return 2; }");
  }
}

std::vector<SwoFilterParams> checked_params() {
  std::vector<SwoFilterParams> all{
      formula("p.max() - p.min()"), formula("p.median() + fmod(x, 3)", 5),
      formula("p.mean() + p(-9, 4) / 4", 17, Border::reflect), formula("255 - p", 1)};
  all.push_back(formula("p.rank(k) * gain", 5, Border::constant));
  all.back().constants = {{"k", std::int64_t{11}}, {"gain", 0.75}};
  all.back().shape = "ellipse";
  return all;
}

TEST(SwoFilterCustom, ResultDependsOnSamplesAlone) {
  expect_result_of_samples_alone(checked_params());
}
#ifdef HAVE_CUDA
TEST(SwoFilterCustomCuda, CudaEqualsCpu) {
  NEED_GPU();
  expect_cuda_equals_cpu(checked_params());
}
#endif

}  // namespace
}  // namespace cudascan
