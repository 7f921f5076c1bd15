// SPDX-License-Identifier: LGPL-2.1-or-later
// cudaswofilter with sequential code that has pragmas.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/elements/custom.h"

namespace cudascan::elements {
namespace {

constexpr char kSharpen[] = R"(
void sharpen(unsigned short **in, unsigned short **out, int width, int height, int r,
             double amount) {
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
    p.custom.source = file.path();
    p.custom.constants = {{"amount", amount}};
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
  EXPECT_NE(error.find(file.path() + ":9:"), std::string::npos) << error;
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

}  // namespace
}  // namespace cudascan::elements
