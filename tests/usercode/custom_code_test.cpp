// SPDX-License-Identifier: LGPL-2.1-or-later
// Users' own code: mistakes, the files that it creates, and new code while frames flow.
#include <filesystem>

#include "tests/usercode/custom.h"

namespace cudascan {
namespace {

using namespace test;

// ---- Mistakes, and created files ----------------------------------------------------------------

TEST(SwoFilterCustom, MistakesAreExplained) {
  CpuRunner cpu(1);
  EXPECT_CONTAINS(refusal(cpu, formula("")), "expression and source are empty");
  SwoFilterParams both = formula("p");
  both.custom.source = "x.cpp";
  EXPECT_CONTAINS(refusal(cpu, both), "expression and source are both set");
  EXPECT_CONTAINS(refusal(cpu, formula("(p")), "expression = \"(p\": its brackets do not match");
  EXPECT_CONTAINS(refusal(cpu, formula("p) + (p")), "brackets");
  EXPECT_CONTAINS(refusal(cpu, formula("p } int main() { return 0")), "brackets");
  EXPECT_CONTAINS(refusal(cpu, formula("p; 3")), "cannot contain # \\ \" and ;");
  EXPECT_CONTAINS(refusal(cpu, formula("p.foo()")), "expression:1:");
  EXPECT_CONTAINS(refusal(cpu, formula("p.foo()")), "foo");
  EXPECT_EQ(refusal(cpu, formula("p.foo()")).find('\n'), std::string::npos)
      << "one mistake must give one line";
  SwoFilterParams named = formula("p");
  named.custom.constants = {{"a b", 1.0}};
  EXPECT_CONTAINS(refusal(cpu, named), "\"a b\" is not a valid name");
  named.custom.constants = {{"int", 1.0}};
  EXPECT_NE("", refusal(cpu, named));
}

TEST(SwoFilterCustom, MistakesInFilesAreExplained) {
  CpuRunner cpu(1);
  const TemporaryFile file("// nothing\n\nfloat filter(auto p) {\n  return p + missing;\n}\n");
  EXPECT_CONTAINS(refusal(cpu, code(file.path())), file.path() + ":4:");
  EXPECT_CONTAINS(refusal(cpu, code("/no/such/file.cpp")),
                  "source = /no/such/file.cpp: No such file");
  EXPECT_CONTAINS(refusal(cpu, code("/")), "it is not a file");
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
  written.custom.emit_cuda = emitted.path();
  EXPECT_EQ(refusal(cpu, written), "");
  EXPECT_CONTAINS(refusal(cpu, code(emitted.path())), "is the output of emit-cuda");
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
  p.custom.emit_cuda = file.path();
  EXPECT_EQ("", refusal(cpu, p));
  const std::string text = read_file(file.path());
  EXPECT_CONTAINS(text, "p.max() - 17");
  EXPECT_CONTAINS(text, "#define GSWO_BLOCK_HEIGHT");
  p.custom.emit_cuda = "/no/such/folder/x.cu";
  EXPECT_CONTAINS(refusal(cpu, p), "emit-cuda = /no/such/folder/x.cu: No such file or directory");
}

TEST(SwoFilterCustom, KeepsCodeInTheFolder) {
  const gswo::PrivateFolder folder;
  SwoFilterParams p = formula("p + 3");
  p.custom.cache_dir = folder.path();
  CpuRunner cpu(1);
  EXPECT_EQ("", refusal(cpu, p));
  EXPECT_EQ(files_in(folder.path()).size(), 1u);
}

TEST(SwoFilterCustom, TuningIsForGpus) {
  const gswo::PrivateFolder folder;
  SwoFilterParams p = formula("p + 4");
  p.custom.cache_dir = folder.path();
  p.custom.tune = true;
  CpuRunner cpu(1);
  EXPECT_EQ("", refusal(cpu, p));
  EXPECT_EQ(files_in(folder.path()).size(), 1u);
}
#ifdef HAVE_CUDA
TEST(SwoFilterCustomCuda, TuningIsRemembered) {
  NEED_GPU();
  const gswo::PrivateFolder folder, emitted;
  SwoFilterParams p = formula("p.max() + p(1, -1)");
  p.custom.cache_dir = folder.path();
  const auto in = picture(67, 31);
  CpuRunner cpu(1);
  const auto expected = filtered(cpu, in, p);
  const std::size_t of_cpu = files_in(folder.path()).size();
  p.custom.tune = true;
  std::vector<std::string> sources;
  std::vector<std::size_t> files;
  for (const char *name : {"first.cu", "second.cu"}) {
    p.custom.emit_cuda = emitted.path() + '/' + name;
    CudaRunner cuda;
    EXPECT_EQ(filtered(cuda, in, p), expected) << name;
    sources.push_back(read_file(p.custom.emit_cuda));
    files.push_back(files_in(folder.path()).size());
  }
  EXPECT_EQ(sources[0], sources[1]);
  EXPECT_GT(files[0], of_cpu + 5) << "several variants, and the result of the comparison";
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

TEST(SwoFilterCustom, PreparesWithoutWaiting) {
  Cpu cpu(1);
  const SwoFilterParams p = formula("p + 17");
  EXPECT_FALSE(prepare(cpu, 1, 0xff, p));
  EXPECT_TRUE(soon([&] { return prepare(cpu, 1, 0xff, p); }));
  EXPECT_TRUE(prepare(cpu, 1, 0xff, {})) << "a built-in operator";
  EXPECT_TRUE(prepare(cpu, 1, 0xff, formula("p)"))) << "it is ready, as run() would throw";
}

TEST(SwoFilterCustom, FollowsTheFile) {
  Cpu cpu(1);
  TemporaryFile file("int filter(auto p) { return 1; }");
  SwoFilterParams p = code(file.path());
  p.custom.reload = true;
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
  EXPECT_EQ("", take_warning(cpu)) << "there must be one warning";

  std::filesystem::remove(file.path());
  EXPECT_EQ(2, result());
  EXPECT_CONTAINS(take_warning(cpu), "No such file");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(2, result());
  EXPECT_EQ("", take_warning(cpu)) << "there must be one warning";
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

}  // namespace
}  // namespace cudascan
