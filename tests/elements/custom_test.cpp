// SPDX-License-Identifier: LGPL-2.1-or-later
// cudaswofilter with users' own code: its settings, its mistakes, and what changes while frames
// flow.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/elements/operators.h"

namespace cudascan::elements {
namespace {

using Params = SwoFilterParams;
using Op = SwoFilterOperator;

class CustomFilter : public BackendTest {
 protected:
  /// Without a cache, so that only the settings count.
  std::string element(const std::string &settings = "") const {
    return launch("cudaswofilter", "cache-dir=\"\" " + settings);
  }
};
INSTANTIATE_BACKENDS(CustomFilter);

Params formula(const std::string &expression, int window = 3) {
  Params p{.op = Op::custom, .window = window};
  p.expression = expression;
  p.cache_dir = "";
  return p;
}

/// A file that its owner's destructor removes.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string &text)
      : path_(std::filesystem::temp_directory_path() /
              ("custom-filter-" + std::to_string(getpid()) + ".cpp")) {
    write(text);
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  std::string path() const { return path_.string(); }
  /// Replaces the file by a new one, as editors do.
  void write(const std::string &text) const {
    const std::string other = path() + "~";
    std::ofstream(other) << text;
    std::filesystem::rename(other, path_);
  }

 private:
  std::filesystem::path path_;
};

/// A text as it is, of any length.
std::string text_of(const Filter &filter, const char *property) {
  g_autofree gchar *text = nullptr;
  g_object_get(filter.element(), property, &text, nullptr);
  return text ? text : "";
}

/// Calls `done` until it returns true; false after a minute.
bool soon(const std::function<bool()> &done) {
  for (int i = 0; i < 6000; ++i) {
    if (done()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST_P(CustomFilter, FormulasAndFilesAreThoseOfTheKernels) {
  const TemporaryFile file(
      "float twice(float v) { return 2 * v; }\n"
      "float other(auto p) { return twice(p) - p.mean() * weight; }\n");
  Params with_file = formula("", 5);
  with_file.source = file.path();
  with_file.function = "other";
  with_file.constants = {{"weight", 1.0}};
  Params with_constants = formula("p(n, -n) * gain");
  with_constants.constants = {{"n", std::int64_t{1}}, {"gain", 1.5}};
  const std::string file_settings =
      "source=" + file.path() + " function=other window=5 params=\"params,weight=1.0\"";
  expect_settings_to_count<Params>(
      element(), {{"expression=\"p.max() - p.min()\" window=5", formula("p.max() - p.min()", 5)},
                  {"expression=\"p(n, -n) * gain\" params=\"params,n=1,gain=1.5\"", with_constants},
                  {file_settings.c_str(), with_file}});
}

TEST_P(CustomFilter, EveryFormat) {
  expect_kernels_result(element(), Case<Params>{"expression=\"maximum - p.median()\"",
                                                formula("maximum - p.median()")});
}

/// Where operators run over the frame first.
TEST_P(CustomFilter, EveryFormatOfLargeWindows) {
  expect_kernels_result(element(),
                        Case<Params>{"expression=\"p.median() + p.max() - p.min()\" window=5",
                                     formula("p.median() + p.max() - p.min()", 5)});
}

TEST(CustomFilterSettings, CodeMakesTheOperatorCustom) {
  Filter filter("cudaswofilter");
  GObject *object = G_OBJECT(filter.element());
  int notified = 0;
  const auto count = +[](GObject *, GParamSpec *, gpointer n) { ++*static_cast<int *>(n); };
  g_signal_connect(object, "notify::operator", G_CALLBACK(count), &notified);
  g_object_set(object, "expression", "p", nullptr);
  EXPECT_EQ(filter.get_string("operator"), "custom");
  EXPECT_EQ(notified, 1);
  gst_util_set_object_arg(object, "operator", "mean");
  EXPECT_EQ(filter.get_string("operator"), "mean");
  g_object_set(object, "source", "x.cpp", nullptr);
  EXPECT_EQ(filter.get_string("operator"), "custom");
}

TEST(CustomFilterSettings, ParamsAreAStructure) {
  Filter filter("cudaswofilter params=\"params,radius=2,amount=1.5,flag=true\"");
  GstStructure *params = nullptr;
  g_object_get(filter.element(), "params", &params, nullptr);
  const Ref<GstStructure> owner(params);
  g_autofree gchar *fields = gst_structure_to_string(params);
  const std::string text = fields;
  for (const char *part : {"radius=(int)2", "amount=(double)1.5", "flag=(int)1"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in " << text;
}

TEST_P(CustomFilter, SettingsWithoutSenseAreRefused) {
  expect_refusals(
      element(),
      {{{{"expression", "(p"}, {"operator", "custom"}}, {"expression = \"(p\"", "brackets"}},
       {{{"operator", "custom"}}, {"expression and source are empty", "set one of them"}},
       {{{"source", "/no/such/file.cpp"}, {"operator", "custom"}},
        {"source = /no/such/file.cpp", "No such file"}},
       {{{"params", "params,name=text"}}, {"params = name", "must be a number"}}});
}

TEST_P(CustomFilter, CodeThatDoesNotCompileIsAnError) {
  Filter filter(element("expression=\"p.foo()\""));
  const std::string text =
      error_of_next_frame(filter, make_picture(GST_VIDEO_FORMAT_GRAY8, 20, 10));
  for (const char *part : {"expression:1", "error", "foo"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in " << text;
}

TEST_P(CustomFilter, LeavesFilesWhereItIsTold) {
  const auto folder = std::filesystem::temp_directory_path() /
                      ("custom-filter-" + std::to_string(getpid()) + "-files");
  const std::string cache = (folder / "cache").string(), cuda = (folder / "filter.cu").string();
  std::filesystem::create_directory(folder);
  {
    Filter filter(
        launch("cudaswofilter", "expression=\"p + 5\" cache-dir=" + cache + " emit-cuda=" + cuda));
    filter.process(make_picture(GST_VIDEO_FORMAT_GRAY8, 20, 10));
  }
  EXPECT_TRUE(std::filesystem::exists(cuda));
  EXPECT_FALSE(std::filesystem::is_empty(cache));
  std::filesystem::remove_all(folder);
}

/// The luma of the next frame.
std::vector<std::uint16_t> next(Filter &filter, const Picture &in) {
  return filter.process(in).components[0];
}

TEST_P(CustomFilter, NewCodeTakesOverWhileFramesFlow) {
  Filter filter(element("expression=\"11\""));
  GObject *object = G_OBJECT(filter.element());
  const Picture in = make_picture(GST_VIDEO_FORMAT_GRAY8, 8, 8);
  EXPECT_EQ(next(filter, in)[0], 11);
  g_object_set(object, "expression", "22", nullptr);
  EXPECT_TRUE(soon([&] {
    const auto luma = next(filter, in);
    EXPECT_TRUE(luma[0] == 11 || luma[0] == 22) << luma[0];
    return luma[0] == 22;
  }));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(next(filter, in)[0], 22);

  // A mistake is an error; after it is corrected, frames continue.
  g_object_set(object, "expression", "nothing", nullptr);
  std::string error;
  EXPECT_TRUE(soon([&] { return !(error = error_of_next_frame(filter, in)).empty(); }));
  EXPECT_NE(error.find("nothing"), std::string::npos) << error;
  g_object_set(object, "expression", "33", nullptr);
  EXPECT_TRUE(soon([&] { return next(filter, in)[0] == 33; }));
}

TEST_P(CustomFilter, FollowsTheFile) {
  const TemporaryFile file("int filter(auto p) { return 1; }");
  Filter filter(element("reload=true source=" + file.path()));
  const Picture in = make_picture(GST_VIDEO_FORMAT_GRAY8, 8, 8);
  EXPECT_EQ(next(filter, in)[0], 1);
  file.write("int filter(auto p) { return 2; }");
  EXPECT_TRUE(soon([&] { return next(filter, in)[0] == 2; }));
  file.write("int filter(auto p) { return what; }");
  Ref<GstMessage> warning;
  EXPECT_TRUE(soon([&] {
    EXPECT_EQ(next(filter, in)[0], 2);
    warning = filter.pop(GST_MESSAGE_WARNING);
    return warning != nullptr;
  }));
  file.write("int filter(auto p) { return 3; }");
  EXPECT_TRUE(soon([&] { return next(filter, in)[0] == 3; }));
}

// ---- Sequential code with pragmas
// ------------------------------------------------------------------

constexpr char kSharpen[] = R"(
void sharpen(unsigned short **in, unsigned short **out, int width, int height, int r, double amount) {
#pragma parallel
  {
#pragma for nest(2)
    for (int y = 0; y < height; y++)
      for (int x = 0; x < width; x++) {
        int sum = 0;
        for (int dy = -r; dy <= r; dy++)
          for (int dx = -r; dx <= r; dx++) sum += in[y + dy][x + dx];
        const double mean = sum / ((2 * r + 1) * (2 * r + 1));
        const double result = in[y][x] + amount * (in[y][x] - mean);
        out[y][x] = result < 0 ? 0 : result > 65535 ? 65535 : result;
      }
  }
}
)";

/// Needs the translator.
class TranslatedFilter : public CustomFilter {
 protected:
  void SetUp() override {
    CustomFilter::SetUp();
    if (!IsSkipped() && translator_version().empty()) GTEST_SKIP() << "there is no gswo-cc";
  }
  static Params params(const TemporaryFile &file, double amount = 1.5) {
    Params p = formula("", 5);
    p.source = file.path();
    p.constants = {{"amount", amount}};
    return p;
  }
  static std::string settings(const TemporaryFile &file) {
    return "source=" + file.path() + " window=5 params=\"params,amount=1.5\" ";
  }
};
INSTANTIATE_BACKENDS(TranslatedFilter);

TEST_P(TranslatedFilter, EveryFormat) {
  const TemporaryFile file(kSharpen);
  const std::string set = settings(file);
  expect_kernels_result(element(), Case<Params>{set.c_str(), params(file)});
}

TEST_P(TranslatedFilter, RealNumbersChangeWithTheNextFrame) {
  const TemporaryFile file(kSharpen);
  Filter filter(element(settings(file)));
  const Picture in = make_picture(GST_VIDEO_FORMAT_GRAY8, 40, 30);
  const auto sharp = next(filter, in);
  EXPECT_NE(sharp, in.components[0]);
  g_object_set(
      filter.element(), "params",
      Ref<GstStructure>(gst_structure_new("params", "amount", G_TYPE_DOUBLE, 0.0, nullptr)).get(),
      nullptr);
  EXPECT_EQ(next(filter, in), in.components[0]);
}

TEST_P(TranslatedFilter, IsTakenBackWhenItWasEdited) {
  const TemporaryFile file(kSharpen);
  const std::string edited = file.path() + ".cu";
  const Picture in = make_picture(GST_VIDEO_FORMAT_GRAY8, 40, 30);
  Filter from_source(element(settings(file) + "emit-cuda=" + edited));
  const auto expected = next(from_source, in);
  std::stringstream text;
  text << std::ifstream(edited).rdbuf();
  EXPECT_EQ(text_of(from_source, "cuda-source"), text.str());
  const auto with_edited = [&] {
    Filter filter(element("source=" + edited + " window=5 params=\"params,amount=1.5\""));
    return next(filter, in);
  };
  EXPECT_EQ(with_edited(), expected);
  std::string changed = text.str();
  const std::string formula = "in[y][x] + amount";
  changed.replace(changed.find(formula), formula.size(), "0 * amount");
  std::ofstream(edited) << changed;
  EXPECT_EQ(with_edited(), std::vector<std::uint16_t>(40 * 30, 0));
  std::filesystem::remove(edited);
}

TEST_P(TranslatedFilter, WhatIsNotParallelIsAnErrorWithItsPlace) {
  std::string text = kSharpen;
  text.replace(text.find("int sum = 0;"), 12, "static int sum;");
  const TemporaryFile file(text);
  Filter filter(element(settings(file)));
  const std::string error =
      error_of_next_frame(filter, make_picture(GST_VIDEO_FORMAT_GRAY8, 20, 10));
  EXPECT_NE(error.find(file.path() + ":8:"), std::string::npos) << error;
  EXPECT_NE(error.find("sum"), std::string::npos) << error;
  EXPECT_NE(error.find(text_of(filter, "compile-log")), std::string::npos) << error;
}

TEST_P(TranslatedFilter, TellsOfTheCodeInUse) {
  const TemporaryFile file(kSharpen);
  Filter filter(element(settings(file)));
  GObject *object = G_OBJECT(filter.element());
  int notified = 0;
  const auto count = +[](GObject *, GParamSpec *, gpointer n) { ++*static_cast<int *>(n); };
  g_signal_connect(object, "notify::cuda-source", G_CALLBACK(count), &notified);
  EXPECT_EQ(text_of(filter, "cuda-source"), "");
  const Picture in = make_picture(GST_VIDEO_FORMAT_GRAY8, 20, 10);
  for (int i = 0; i < 3; ++i) next(filter, in);
  EXPECT_NE(text_of(filter, "cuda-source").find("//@gswo function sharpen"), std::string::npos);
  EXPECT_EQ(notified, 1);
  EXPECT_EQ(text_of(filter, "translator").rfind("gswo-cc ", 0), 0u);
}

// ---- While a compiler runs
// ---------------------------------------------------------------------------

/// A compiler that never ends, and the number of a process that it started.
class EndlessCompiler {
 public:
  EndlessCompiler() {
    std::filesystem::create_directories(folder_ / "work");
    std::ofstream(folder_ / "cxx")
        << "#!/bin/sh\nsleep 600 &\necho $! >" << (folder_ / "pid").string() << "\nwait\n";
    std::filesystem::permissions(folder_ / "cxx", std::filesystem::perms::owner_all);
    g_setenv("CUDASCAN_CXX", (folder_ / "cxx").c_str(), TRUE);
    g_setenv("TMPDIR", (folder_ / "work").c_str(), TRUE);
  }
  ~EndlessCompiler() {
    g_unsetenv("CUDASCAN_CXX");
    g_unsetenv("TMPDIR");
    EXPECT_TRUE(soon([&] { return left_nothing(); }));
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  bool runs() const {
    std::ifstream file(folder_ / "pid");
    std::string pid;
    if (!(file >> pid)) return false;
    std::ifstream stat("/proc/" + pid + "/stat");
    const std::string status{std::istreambuf_iterator<char>(stat), {}};
    return !status.empty() && status[status.rfind(')') + 2] != 'Z';
  }
  bool left_nothing() const { return !runs() && std::filesystem::is_empty(folder_ / "work"); }

 private:
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("endless-compiler-" + std::to_string(getpid()));
};

TEST(CustomFilterStops, WhileItsCodeIsCompiled) {
  const EndlessCompiler compiler;
  Filter filter("cudaswofilter backend=cpu cache-dir=\"\" expression=\"p + 4713\"");
  GstFlowReturn flow = GST_FLOW_OK;
  std::thread stream(
      [&] { flow = filter.push_picture(make_picture(GST_VIDEO_FORMAT_GRAY8, 20, 10)); });
  EXPECT_TRUE(soon([&] { return compiler.runs(); }));
  const auto begin = std::chrono::steady_clock::now();
  gst_element_set_state(filter.element(), GST_STATE_NULL);
  stream.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20))
      << "the compiler would go on for a minute";
  EXPECT_EQ(flow, GST_FLOW_FLUSHING);
  EXPECT_FALSE(filter.pop(GST_MESSAGE_ERROR));
  EXPECT_TRUE(soon([&] { return compiler.left_nothing(); }));
}

TEST(CustomFilterStops, WhenItIsFlushed) {
  const EndlessCompiler compiler;
  Filter filter("cudaswofilter backend=cpu cache-dir=\"\" expression=\"p + 4714\"");
  GstFlowReturn flow = GST_FLOW_OK;
  std::thread stream(
      [&] { flow = filter.push_picture(make_picture(GST_VIDEO_FORMAT_GRAY8, 20, 10)); });
  EXPECT_TRUE(soon([&] { return compiler.runs(); }));
  gst_harness_push_event(filter.harness(), gst_event_new_flush_start());
  stream.join();
  EXPECT_EQ(flow, GST_FLOW_FLUSHING);
  EXPECT_TRUE(compiler.runs()) << "the next frame wants the same";
}

// ---- How the GPU shares the work
// -------------------------------------------------------------------

TEST_P(CustomFilter, TilesMakeNoDifference) {
  const Params expected = formula("p.median() + p(3, 1) - p(-2, -5)", 5);
  const std::string code = "expression=\"" + expected.expression + "\" window=5 ";
  for (const char *tiles :
       {"tile-width=64 tile-height=8 chunk-height=2", "tile-width=20 reads=shared",
        "reads=global chunk-width=4 chunk-height=3", "reads=texture",
        "tile-height=5 tile-width=7 reads=texture", "tune=true"})
    expect_kernels_result(element(code), Case<Params>{tiles, expected});
}

TEST_P(CustomFilter, TilesWithoutSenseAreRefused) {
  expect_refusals(
      element("expression=p"),
      {{{{"tile-width", "2000"}}, {"tile-width = 2000", "from 1 to 1024"}},
       {{{"chunk-height", "3"}, {"tile-height", "8"}}, {"chunk-height = 3", "multiple"}},
       {{{"chunk-width", "3"}}, {"chunk-width = 3", "1, 2 or 4"}},
       {{{"strict", "true"}, {"expression", "p + *(&p)"}}, {"strict = true", "allows no"}}});
}

}  // namespace
}  // namespace cudascan::elements
