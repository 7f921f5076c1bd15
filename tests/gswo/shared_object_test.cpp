// SPDX-License-Identifier: LGPL-2.1-or-later
// gswo-cc --emit so as a compiler. The test usercode-without-compiler covers what the library
// compiles with it.
#include <gtest/gtest.h>

#include <cmath>

#include "tool.h"

namespace cudascan::gswo::test {
namespace {

/// Compiles a text.
class SharedObject {
 public:
  explicit SharedObject(const std::string &text, std::vector<std::string> options = {}) {
    write(folder_ / "file.cpp", text);
    options.insert(options.end(),
                   {"--emit", "so", "-o", folder_ / "file.so", folder_ / "file.cpp"});
    outcome = translate(options);
  }
  bool exists() const { return std::filesystem::exists(folder_ / "file.so"); }
  std::string path() const { return folder_ / "file.so"; }

  Outcome outcome;

 private:
  Folder folder_;
};

const std::string kExported = "extern \"C\" __attribute__((visibility(\"default\"))) ";

TEST(GswoSharedObject, Loads) {
  const Folder headers;
  write(headers / "scale.h", "inline float scale(float x) { return FACTOR * x; }\n");
  const SharedObject object(
      R"(#include "scale.h"
struct Both {
  int a;
  Both() { a = 7; }
  ~Both() { a = 0; }
};
Both both;
struct Shape {
  virtual int sides() = 0;
} *made;
struct Square : Shape {
  int sides() override { return 4; }
};
extern "C" {
#pragma GCC visibility push(default)
float f(float a, float b) { return scale(__builtin_sqrtf(a) + __builtin_fmodf(a, b)); }
int local(int n) {
  static Both here;
  static thread_local int at = n;
  return here.a + both.a + at;
}
int sides() {
  Square square;
  made = &square;
  return made->sides();
}
void fill(char *a, long n) {
  for (long i = 0; i < n; ++i) a[i] = 5;
}
long divided(long a, long b) { return (__int128(a) << 64) / b >> 64; }
})",
      {"-I", headers / "", "-DFACTOR=10"});
  ASSERT_EQ(object.outcome.status, 0) << object.outcome.errors;
  EXPECT_EQ(object.outcome.errors, "");
  const Library library(object.path());
  EXPECT_EQ(library.function<float(float, float)>("f")(10, 3),
            10 * (std::sqrt(10.f) + std::fmod(10.f, 3.f)));
  EXPECT_EQ(library.function<int(int)>("local")(3), 17);
  EXPECT_EQ(library.function<int()>("sides")(), 4);
  EXPECT_EQ(library.function<long(long, long)>("divided")(91, 7), 13);
  std::string text(1000, '\0');
  library.function<void(char *, long)>("fill")(text.data(), 999);
  EXPECT_EQ(text, std::string(999, 5) + '\0');
}

TEST(GswoSharedObject, HidesWhatIsNotExported) {
  const SharedObject object("int hidden = 1;\n" + kExported + "int seen() { return hidden; }\n");
  const Library library(object.path());
  EXPECT_EQ(library.function<int()>("seen")(), 1);
  EXPECT_THROW(library.function<int()>("hidden"), std::runtime_error);
}

TEST(GswoSharedObject, MistakesHaveTheirPlace) {
  const std::pair<std::string, std::string> mistakes[] = {
      {"#line 1 \"user.cpp\"\nint f(int x) {\n  return x + weight;\n}\n",
       "user.cpp:2:14: error: use of undeclared identifier 'weight'"},
      {"\n#include <stdio.h>\n", "file.cpp:2:10: fatal error: 'stdio.h' file not found"},
      {"#line 1 \"user.cpp\"\nint g(int);\n" + kExported + "int f(int x) {\n  return g(x);\n}\n",
       "g(int)"},
      {"#line 1 \"user.cpp\"\n\nint f() { asm(\"no_such_instruction\"); return 1; }\n" + kExported +
           "int g() { return f(); }\n",
       "user.cpp:2:15: error: "}};
  for (const auto &[text, words] : mistakes) {
    const SharedObject object(text);
    EXPECT_EQ(object.outcome.status, 1) << words;
    EXPECT_NE(object.outcome.errors.find(words), std::string::npos) << object.outcome.errors;
    EXPECT_FALSE(object.exists()) << words;
  }
}

TEST(GswoSharedObject, SaysWhatIsMissing) {
  const Folder folder;
  write(folder / "file.cpp", "int x;\n");
  const Outcome outcome = run({"env", "PATH=" + folder / "", GSWO_CC, "--emit", "so", "-o",
                               folder / "file.so", folder / "file.cpp"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.errors.find("neither ld nor ld.lld is in PATH; install one"), std::string::npos)
      << outcome.errors;
}

TEST(GswoSharedObject, IsNotWaitedForTooLong) {
  const Folder folder;
  write(folder / "file.cpp",
        "template <int n, int m> struct Sum {\n"
        "  static constexpr long value = Sum<n - 1, 2 * m>::value + Sum<n - 1, 2 * m + "
        "1>::value;\n};\n"
        "template <int m> struct Sum<0, m> { static constexpr long value = m; };\n"
        "long sum = Sum<22, 1>::value;\n");
  const Outcome outcome = run({"sh", "-c", "ulimit -t 1; exec \"$@\"", "sh", GSWO_CC, "--emit",
                               "so", "-o", folder / "file.so", folder / "file.cpp"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.errors.find("CPU time limit exceeded"), std::string::npos) << outcome.errors;
}

}  // namespace
}  // namespace cudascan::gswo::test
