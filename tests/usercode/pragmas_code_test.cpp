// SPDX-License-Identifier: LGPL-2.1-or-later
// Sources with pragmas in the library: messages about mistakes, saving while frames flow, and
// caches.
#include "tests/usercode/pragmas.h"

namespace cudascan::test {
namespace {

/// Whether a message names temporary files other than the test's own.
bool names_temporary(const std::string &message, const Files &files) {
  std::string rest = message;
  const std::string &own = files.folder().path();
  for (auto at = rest.find(own); at != rest.npos; at = rest.find(own)) rest.erase(at, own.size());
  return rest.find("/tmp/") != rest.npos || rest.find("gswo-cc.in") != rest.npos;
}

// ---- Mistakes -----------------------------------------------------------------------------------

TEST(GswoPragmasSettings, MistakesAreAtTheUsersPlace) {
  CpuRunner cpu(1);
  const Files files;
  const std::string path = files.write(
      "my \"own\" f.cpp",
      "void f(float **in, float **out, int h, int w) {\n  float sum = 0;\n#pragma parallel\n  {\n"
      "#pragma for\n    for (int i = 0; i < h; i++)\n      for (int j = 0; j < w; j++) {\n"
      "        sum += in[i][j];\n        out[i][j] = sum;\n      }\n  }\n}\n");
  const std::string carried = refusal(cpu, source_filter(path));
  EXPECT_TRUE(carried.starts_with(path + ":8:9: error: 'sum' carries")) << carried;
  EXPECT_FALSE(names_temporary(carried, files)) << carried;

  const std::string undeclared =
      refusal(cpu, source_filter(files.write("u.cpp", one_window("out[i][j] = missing;"))));
  EXPECT_TRUE(has(undeclared, files / "u.cpp:7:")) << undeclared;
  EXPECT_TRUE(has(undeclared, "missing"));
  EXPECT_FALSE(names_temporary(undeclared, files)) << undeclared;

  const std::string no_loop = refusal(
      cpu, source_filter(files.write("n.cpp", "void f() {\n#pragma gswo parallel\n{ }\n}\n")));
  EXPECT_TRUE(has(no_loop, files / "n.cpp:")) << no_loop;
  EXPECT_FALSE(names_temporary(no_loop, files)) << no_loop;

  const std::string beside = refusal(
      cpu,
      source_filter(files.write("b.cpp", "#include \"other.h\"\n" + one_window("out[i][j] = 1;"))));
  EXPECT_TRUE(has(beside, files / "b.cpp:1:")) << beside;
  EXPECT_TRUE(has(beside, "other.h")) << beside;
  EXPECT_FALSE(names_temporary(beside, files)) << beside;

  for (const char *name : {"</etc/passwd>", "<../x.h>", "\"/etc/passwd\"", "<a/./b>", "<>"}) {
    SCOPED_TRACE(name);
    CpuRunner other(1);
    const std::string includes =
        files.write("i.cpp", "#include " + std::string(name) + "\n" + one_window("out[i][j] = 1;"));
    const std::string outside = refusal(other, source_filter(includes));
    EXPECT_TRUE(outside.starts_with(includes + ":1:")) << outside;
    EXPECT_FALSE(names_temporary(outside, files)) << outside;
  }
}

/// Messages have the path as the user gave it, also a relative path or one with special characters.
TEST(GswoPragmasSettings, PathsCanBeOdd) {
  CpuRunner cpu(1);
  const Files files;
  const std::string before = std::filesystem::current_path();
  std::filesystem::current_path(files.folder().path());
  for (const char *name :
       {"-o.cpp", "a b/c'\"$x.cpp", "back\\slash.cpp", "noname", ".cpp", "\xc3\xa4.cpp"}) {
    SCOPED_TRACE(name);
    files.write(name, one_window("out[i][j] = in[i][j] + 1;"));
    SwoFilterParams p = source_filter(name);
    EXPECT_EQ(of_gray(cpu, p), 128);
    files.write(name, one_window("int unused; out[i][j] = in[i][j] + nothing;"));
    CpuRunner other(1);
    EXPECT_TRUE(refusal(other, p).starts_with(std::string(name) + ":7:")) << refusal(other, p);
  }
  std::filesystem::current_path(before);
}

/// The source may be a whole program that contains the filter.
TEST(GswoPragmasSettings, ProgramsAreSources) {
  CpuRunner cpu(1);
  const Files files;
  EXPECT_EQ(of_gray(cpu, source_filter(files.write(
                             "program.cpp",
                             "#include <stdio.h>\n#include <vector>\n # include <iostream>\n"
                             "#include <math.h>\n#include <cstdint>\n" +
                                 one_window("out[i][j] = sqrtf(in[i][j] - 6) + std::min(1, 2);") +
                                 "int main() {\n  std::vector<float> image(9);\n"
                                 "  std::cout << image.size();\n  printf(\"%d\", 3);\n}\n"))),
            12);
}

TEST(GswoPragmasSettings, TheTranslatorMayBeMissing) {
  CpuRunner cpu(1);
  const Files files;
  const SwoFilterParams p =
      source_filter(files.write("f.cpp", one_window("out[i][j] = in[i][j];")));
  const auto said = [&] { return message_of<Error>([&] { of_gray(cpu, p); }); };
  {
    const Variable chosen("CUDASCAN_GSWO_CC", "/nonexistent/gswo-cc");
    const std::string message = said();
    EXPECT_TRUE(has(message, "/nonexistent/gswo-cc"));
    EXPECT_TRUE(has(message, "set it to the path of gswo-cc"));
    EXPECT_EQ(translator_version(), "");
  }
  {
    const Variable chosen("CUDASCAN_GSWO_CC", nullptr);
    const Variable path("PATH", "/nonexistent");
    if (translator_version().empty()) {
      const std::string message = said();
      EXPECT_TRUE(has(message, files / "f.cpp"));
      EXPECT_TRUE(has(message, "apt install"));
      EXPECT_TRUE(has(message, "CUDASCAN_GSWO_CC"));
    }
  }
  const auto with_script = [&](const std::string &commands) {
    const Variable chosen("CUDASCAN_GSWO_CC", make_script(files.folder(), "script", commands));
    EXPECT_EQ(translator_version(), "") << commands;
    return said();
  };
  for (const char *end : {"kill -SEGV $$", "exit 3", "kill -9 $$", "exit 1"}) {
    const std::string crashed = with_script(end);
    EXPECT_TRUE(has(crashed, "crashed or ran out of memory at " + (files / "f.cpp"))) << end;
    EXPECT_TRUE(has(crashed, "make the code simpler")) << end;
  }
  const Variable not_a_program("CUDASCAN_GSWO_CC", files.write("text", "no program"));
  chmod((files / "text").c_str(), 0755);
  EXPECT_NE(said(), "");
  EXPECT_EQ(translator_version(), "");
  EXPECT_EQ(of_gray(cpu, source_filter(files.write("g.cpp", "float filter(auto p) { return 3; }"))),
            3)
      << "functions need no translator";
}

/// If a translator writes nothing, or no manifest, this is an error.
TEST(GswoPragmasSettings, TheTranslatorMayBeSomethingElse) {
  CpuRunner cpu(1);
  const Files files;
  const SwoFilterParams p =
      source_filter(files.write("f.cpp", one_window("out[i][j] = in[i][j];")));
  for (const char *commands : {"exit 0", "while [ $# -gt 2 ]; do shift; done; echo text > $1"}) {
    const Variable chosen("CUDASCAN_GSWO_CC", make_script(files.folder(), "script", commands));
    EXPECT_THROW(of_gray(cpu, p), Error) << commands;
  }
}

TEST(GswoPragmasSettings, TheTranslatorHasAVersion) {
  EXPECT_TRUE(translator_version().starts_with("gswo-cc ")) << translator_version();
  EXPECT_EQ(translator_version().find('\n'), std::string::npos);
}

// ---- New code while frames flow -----------------------------------------------------------------

TEST(GswoPragmasSettings, FollowsTheFile) {
  Cpu cpu(1);
  const Files files;
  // Editors save like this: a new file replaces the old one.
  const auto save = [&](const std::string &body) {
    files.write("new", body.empty() ? "" : one_window(body));
    std::filesystem::rename(files / "new", files / "f.cpp");
  };
  save("out[i][j] = 1;");
  SwoFilterParams p = source_filter(files / "f.cpp");
  p.custom.reload = true;
  const auto in = picture({3, 2});
  const auto result = [&] {
    Image<std::uint8_t> out(3, 2);
    run(cpu, in.plane(), out.plane(), p);
    return +out.at(1, 1);
  };
  const auto warning = [&](int goes_on) {
    std::string text;
    EXPECT_TRUE(soon([&] {
      EXPECT_EQ(result(), goes_on);
      text = take_warning(cpu);
      return !text.empty();
    }));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(result(), goes_on);
    EXPECT_EQ(take_warning(cpu), "") << "there must be one warning";
    return text;
  };
  EXPECT_EQ(result(), 1);
  save("out[i][j] = 2;");
  EXPECT_TRUE(soon([&] { return result() == 2; }));
  EXPECT_EQ(take_warning(cpu), "");
  save("out[i - 1][j] += 2;");
  EXPECT_TRUE(has(warning(2), files / "f.cpp:7:"));
  save("out[i][j] = nothing;");
  EXPECT_TRUE(has(warning(2), "nothing"));
  save("");
  EXPECT_TRUE(has(warning(2), "no function filter"));
  save("out[i][j] = 4;");
  EXPECT_TRUE(soon([&] { return result() == 4; }));
  // The source may be replaced by the output of gswo-cc, and by a function.
  std::string edited = code_of(cpu)->cuda_source;
  edited.replace(edited.find("= 4;"), 4, "= 5;");
  files.write("f.cpp", edited);
  EXPECT_TRUE(soon([&] { return result() == 5; }));
  files.write("f.cpp", edited + "//@gswo nonsense\n");
  EXPECT_TRUE(has(warning(5), "nonsense"));
  files.write("f.cpp", "int filter(auto p) { return 6; }");
  EXPECT_TRUE(soon([&] { return result() == 6; }));
  EXPECT_EQ(take_warning(cpu), "");
}

TEST(GswoPragmasSettings, PreparesWithoutWaiting) {
  Cpu cpu(1);
  const Files files;
  const SwoFilterParams p =
      source_filter(files.write("f.cpp", one_window("out[i][j] = in[i][j] + 17;")));
  EXPECT_FALSE(prepare(cpu, 1, 0xff, p));
  EXPECT_TRUE(soon([&] { return prepare(cpu, 1, 0xff, p); }));
  const SwoFilterParams bad = source_filter(files.write("b.cpp", one_window("out[i][j] = a;")));
  EXPECT_TRUE(soon([&] { return prepare(cpu, 1, 0xff, bad); })) << "run() would throw";
}

/// Translations are in the same folder as compiled code.
TEST(GswoPragmasSettings, KeepsTranslations) {
  const Files files, cache;
  SwoFilterParams p =
      source_filter(files.write("f.cpp", one_window("in[i][j] = in[i][j + 1] + 18;")));
  p.custom.cache_dir = cache.folder().path();
  Cpu cpu(1);
  const auto in = picture({4, 3}, Content::gray);
  Image<std::uint8_t> out(4, 3);
  run(cpu, in.plane(), out.plane(), p);
  const UserFilterCode code = *code_of(cpu);
  EXPECT_EQ(files_in(cache.folder().path()).size(), 2u);
  EXPECT_TRUE(has(code.log, "filtered in place"));
  EXPECT_TRUE(has(code.log, files / "f.cpp:"));
  EXPECT_TRUE(has(code.cuda_source, "//@gswo manifest 1"));
  // Another executor in this process, with the same text and the same translation.
  p.border = SwoFilterBorder::reflect;
  run(cpu, in.plane(), out.plane(), p);
  EXPECT_EQ(files_in(cache.folder().path()).size(), 3u);
  EXPECT_EQ(code_of(cpu)->log, code.log);
  EXPECT_EQ(code_of(cpu)->cuda_source, code.cuda_source);
  EXPECT_EQ(out.at(1, 1), 145);
}

/// The test below runs this filter in a process of its own.
TEST(GswoPragmasSettings, DISABLED_RunsOnce) {
  SwoFilterParams p = source_filter(std::getenv("TEST_SOURCE"));
  p.custom.cache_dir = std::getenv("TEST_CACHE");
  Cpu cpu(1);
  const auto in = picture({4, 3}, Content::gray);
  Image<std::uint8_t> out(4, 3);
  run(cpu, in.plane(), out.plane(), p);
}

/// The translator's library may be updated while gswo-cc stays the same.
TEST(GswoPragmasSettings, TranslatesAnewForAnotherVersion) {
  const Files files, cache;
  const char *real = std::getenv("CUDASCAN_GSWO_CC");
  if (!real) GTEST_SKIP() << "CUDASCAN_GSWO_CC is not set";
  const Variable source("TEST_SOURCE", files.write("f.cpp", one_window("out[i][j] = 19;")));
  const Variable folder("TEST_CACHE", cache.folder().path());
  const Variable chosen(
      "CUDASCAN_GSWO_CC",
      make_script(files.folder(), "script",
                  "case $1 in --version) cat " + (files / "version") + ";; *) echo >>" +
                      (files / "calls") + "; exec " + real + " \"$@\";; esac"));
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  const auto translations = [&](const std::string &version) {
    files.write("version", version + '\n');
    // The process runs its case in every share of the cases.
    const std::string command = "unset GTEST_TOTAL_SHARDS GTEST_SHARD_INDEX; '" + program +
                                "' --gtest_also_run_disabled_tests --gtest_output= " +
                                "--gtest_filter=GswoPragmasSettings.DISABLED_RunsOnce >/dev/null";
    EXPECT_EQ(std::system(command.c_str()), 0);
    return read_file(files / "calls").size();
  };
  EXPECT_EQ(translations("gswo-cc 1 (Clang 14.0.6)"), 1u);
  EXPECT_EQ(translations("gswo-cc 1 (Clang 14.0.6)"), 1u);
  EXPECT_EQ(translations("gswo-cc 1 (Clang 14.0.7)"), 2u);
  EXPECT_EQ(translations("gswo-cc 1 (Clang 14.0.6)"), 2u);
}

TEST(GswoPragmasSettings, CanBeTurnedOff) {
  CpuRunner cpu(1);
  const Files files;
  const Variable off("CUDASCAN_NO_USER_CODE", "1");
  EXPECT_TRUE(has(refusal(cpu, source_filter(files.write("f.cpp", one_window("out[i][j] = 1;")))),
                  "CUDASCAN_NO_USER_CODE"));
}

}  // namespace
}  // namespace cudascan::test
