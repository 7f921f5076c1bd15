// SPDX-License-Identifier: LGPL-2.1-or-later
// cudaswofilter with users' own code: settings, mistakes, and changes while frames flow.
#include <filesystem>

#include "tests/elements/custom.h"

namespace cudascan::elements {
namespace {

INSTANTIATE_BACKENDS(CustomFilter);

TEST_P(CustomFilter, FormulasAndFilesAreThoseOfTheKernels) {
  const TemporaryFile file(
      "float twice(float v) { return 2 * v; }\n"
      "float other(auto p) { return twice(p) - p.mean() * weight; }\n");
  Params with_file = formula("", 5);
  with_file.custom.source = file.path();
  with_file.custom.function = "other";
  with_file.custom.constants = {{"weight", 1.0}};
  Params with_constants = formula("p(n, -n) * gain");
  with_constants.custom.constants = {{"n", std::int64_t{1}}, {"gain", 1.5}};
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

/// Built-in operators first compute planes of minima, maxima and medians for this formula.
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

// ---- How the GPU shares the work ----------------------------------------------------------------

TEST_P(CustomFilter, TilesMakeNoDifference) {
  const Params expected = formula("p.median() + p(3, 1) - p(-2, -5)", 5);
  const std::string code = "expression=\"" + expected.custom.expression + "\" window=5 ";
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
       {{{"strict", "true"}, {"expression", "p + *(&p)"}}, {"strict = true", "does not allow"}}});
}

}  // namespace
}  // namespace cudascan::elements
