// SPDX-License-Identifier: LGPL-2.1-or-later
// Translated files that the user has edited.
#include <algorithm>

#include "kernels/usercode/manifest.h"
#include "tests/usercode/pragmas.h"

namespace cudascan::gswo {
namespace {

using namespace cudascan::test;

std::string replaced(std::string text, const std::string &what, const std::string &with) {
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what << " is not in " << text;
  if (at != std::string::npos) text.replace(at, what.size(), with);
  return text;
}

/// The file that gswo-cc makes, from emit_cuda.
struct Emitted {
  Files files;
  std::string path, text;

  Emitted() {
    SwoFilterParams p = source_filter(files.write(
        "contrast.cpp", one_window("float most = 0;\nfor (int y = -1; y <= 1; y++)\n"
                                   "for (int x = -1; x <= 1; x++)\n"
                                   "if (in[i + y][j + x] > most) most = in[i + y][j + x];\n"
                                   "out[i][j] = (most - in[i][j]) * gain + 11;",
                                   ", float gain = 2")));
    p.custom.emit_cuda = path = files / "contrast.cu";
    Cpu cpu(1);
    const auto in = picture({4, 4});
    Image<std::uint8_t> out(4, 4);
    run(cpu, in.plane(), out.plane(), p);
    text = read_file(path);
    EXPECT_EQ(text, code_of(cpu)->cuda_source);
    EXPECT_EQ(code_of(cpu)->log, "");
  }
};

std::vector<std::uint8_t> contrast(const Image<std::uint8_t> &in, float gain, int offset) {
  CpuRunner cpu(1);
  auto samples =
      filtered(cpu, in, {.op = SwoFilterOperator::maximum, .border = SwoFilterBorder::replicate});
  const auto levels = in.samples();
  for (std::size_t i = 0; i < samples.size(); ++i)
    samples[i] = static_cast<std::uint8_t>(
        std::min(255.f, static_cast<float>(samples[i] - levels[i]) * gain + offset));
  return samples;
}

template <typename Runner>
void expect_edited(Runner &runner) {
  const Emitted emitted;
  EXPECT_TRUE(has_manifest(emitted.text));
  const Variable no_translator("CUDASCAN_GSWO_CC", "/nonexistent");
  const auto in = picture({61, 35});
  SwoFilterParams p = source_filter(emitted.path);
  EXPECT_TRUE(same(contrast(in, 2, 11), filtered(runner, in, p), 61));
  p.custom.constants = {{"gain", 1.0}};
  EXPECT_TRUE(same(contrast(in, 1, 11), filtered(runner, in, p), 61));
  p.custom.constants = {{"gain", std::int64_t{3}}};
  EXPECT_TRUE(same(contrast(in, 3, 11), filtered(runner, in, p), 61));
  p = source_filter(emitted.files.write("edited.cu", replaced(emitted.text, "+ 11;", "+ 23;")));
  EXPECT_TRUE(same(contrast(in, 2, 23), filtered(runner, in, p), 61));
  std::string windows;
  for (const char c : emitted.text) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  p = source_filter(emitted.files.write("windows.cu", windows));
  EXPECT_TRUE(same(contrast(in, 2, 11), filtered(runner, in, p), 61));
}

TEST(GswoEdited, GivesThePicture) {
  CpuRunner cpu(2);
  expect_edited(cpu);
}
#ifdef HAVE_CUDA
TEST(GswoEditedCuda, GivesThePicture) {
  NEED_GPU();
  CudaRunner cuda;
  expect_edited(cuda);
}
#endif

TEST(GswoEdited, MistakesAreInThatFile) {
  const Emitted emitted;
  const Variable no_translator("CUDASCAN_GSWO_CC", "/nonexistent");
  const auto said = [&](const std::string &text) {
    CpuRunner cpu(1);
    return refusal(cpu, source_filter(emitted.files.write("my.cu", text)));
  };
  const std::string path = emitted.files / "my.cu:";
  const std::string broken = replaced(emitted.text, "+ 11;", "+ eleven;");
  const auto line = std::count(broken.begin(), broken.begin() + broken.find("eleven"), '\n') + 1;
  EXPECT_TRUE(said(broken).starts_with(path + std::to_string(line) + ":")) << said(broken);
  EXPECT_TRUE(has(said(broken), "eleven"));
  EXPECT_FALSE(has(said(broken), "contrast.cpp"));

  EXPECT_TRUE(
      said(replaced(emitted.text, "manifest 1", "manifest 2")).starts_with(path + "2: error"));
  EXPECT_TRUE(has(said(replaced(emitted.text, "//@gswo done", "")), "ends within a function"));
  EXPECT_TRUE(
      has(said(replaced(emitted.text, "//@gswo kernel window_filter_k0", "//@gswo kernel other")),
          "the filter has no function other; translate it again"));
  EXPECT_TRUE(has(said("//@gswo manifest 1\n"), "error: "));
  EXPECT_TRUE(has(said(replaced(emitted.text, "#include \"gswo_rt.h\"",
                                "#include \"gswo_rt.h\"\n#include \"/etc/passwd\"")),
                  path));

  SwoFilterParams p = source_filter(emitted.path);
  p.custom.emit_cuda = emitted.path;
  CpuRunner cpu(1);
  EXPECT_TRUE(has(refusal(cpu, p), "this is the file of source"));
  p.custom.emit_cuda = "";
  p.custom.function = "other";
  EXPECT_TRUE(has(refusal(cpu, p), "it has window_filter"));
  p.custom.function = "window_filter";
  p.custom.constants = {{"gian", 1.0}};
  EXPECT_TRUE(has(refusal(cpu, p), "has no parameter gian; it has gain"));
  p.custom.constants = {{"width", std::int64_t{2}}};
  EXPECT_TRUE(has(refusal(cpu, p), "params: width is the width of the frame"));
  p.custom.constants = {};
  p.custom.strict = true;
  EXPECT_TRUE(has(refusal(cpu, p), "strict = true"));
}

/// The file is not translated again, so constants cannot change. The types of the other parameters
/// are known.
TEST(GswoEdited, NumbersAreChecked) {
  CpuRunner cpu(1);
  const Files files;
  SwoFilterParams p = source_filter(
      files.write("f.cpp", one_window("int v[n]; for (int k = 0; k < n; k++) v[k] = c; "
                                      "out[i][j] = in[i][j] + v[n - 1] + n;",
                                      ", int n, unsigned char c = 7, int spare = 1")));
  p.custom.constants = {{"n", std::int64_t{5}}};
  p.custom.emit_cuda = files / "f.cu";
  const auto in = picture({5, 4}, Content::gray);
  EXPECT_EQ(filtered(cpu, in, p)[7], 127 + 7 + 5);
  p = source_filter(p.custom.emit_cuda);
  const auto with = [&](const Constants &constants) {
    p.custom.constants = constants;
    return filtered(cpu, in, p)[7];
  };
  EXPECT_EQ(with({{"n", std::int64_t{5}}}), 127 + 7 + 5);
  EXPECT_EQ(with({{"c", std::int64_t{100}}, {"spare", 3.0}}), 127 + 100 + 5);
  EXPECT_EQ(with({{"c", 300.0}}), 255) << "real numbers may change at any time, and are limited";
  const auto said = [&](const UserFilterConstant &constant) {
    p.custom.constants = {constant};
    return refusal(cpu, p);
  };
  for (const UserFilterConstant &other : Constants{{"n", std::int64_t{6}}, {"n", 5.0}}) {
    const std::string message = said(other);
    EXPECT_TRUE(has(message, "params: n is 5 in this file"));
    EXPECT_TRUE(has(message, "translate its source again"));
  }
  const std::string message = said({"c", std::int64_t{300}});
  for (const char *part : {"params: c = 300", "unsigned char", "0 to 255"})
    EXPECT_TRUE(has(message, part)) << message;
  EXPECT_TRUE(has(said({"h", 1.0}), "it has n, c, spare"));
}

TEST(GswoEdited, IsWrittenAsItIs) {
  const Emitted emitted;
  SwoFilterParams p = source_filter(emitted.path);
  p.custom.emit_cuda = emitted.files / "again.cu";
  Cpu cpu(1);
  const auto in = picture({4, 4});
  Image<std::uint8_t> out(4, 4);
  run(cpu, in.plane(), out.plane(), p);
  EXPECT_EQ(read_file(p.custom.emit_cuda), emitted.text);
  EXPECT_EQ(code_of(cpu)->cuda_source, emitted.text);
  EXPECT_EQ(code_of(cpu)->log, "");
}

}  // namespace
}  // namespace cudascan::gswo
