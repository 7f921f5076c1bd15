// SPDX-License-Identifier: LGPL-2.1-or-later
// Files for user code: the cache on disk, shared objects, and hashes.
#include <fcntl.h>
#include <unistd.h>

#include "kernels/usercode/code.h"
#include "kernels/usercode/code_cache.h"
#include "kernels/usercode/digest.h"
#include "kernels/usercode/program_file.h"
#include "kernels/usercode/shared_object.h"
#include "tests/usercode/support.h"

namespace cudascan {
namespace {

using namespace gswo;
using namespace test;

std::string key(char digit) {
  return std::string(64, digit);
}

class GswoCache : public testing::Test {
 protected:
  // The content of the cache in the folder; "" for nothing. Each call uses a new cache object, like
  // another process.
  std::string find(char digit) const { return put(digit, ""); }
  std::string put(char digit, const std::string &code) const {
    return CodeCache(cache_, most_).find_or_make(key(digit), [&] {
      if (code.empty()) throw Error("missing");
      return code;
    });
  }
  bool has_kept(char digit) const {
    try {
      find(digit);
      return true;
    } catch (const Error &) {
      return false;
    }
  }
  std::string file(char digit) const { return cache_ + '/' + key(digit); }
  void set_age(const std::string &path, int seconds) const {
    timespec times[2];
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= seconds;
    times[1] = times[0];
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }

  PrivateFolder folder_;
  std::string cache_ = folder_.path() + "/cache";
  std::uint64_t most_ = 1 << 20;
};

TEST_F(GswoCache, KeepsBytes) {
  const std::string code("\0\n\377 code", 8);
  EXPECT_EQ(put('a', code), code);
  EXPECT_EQ(find('a'), code);
  EXPECT_EQ(put('a', "other"), code);
  EXPECT_EQ(put('b', "other"), "other");
  EXPECT_EQ(find('a'), code);
  EXPECT_EQ(files_in(cache_).size(), 2u);
}

TEST_F(GswoCache, ReplacesDamagedFiles) {
  put('a', "some code");
  const std::string whole = read_file(file('a'));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string flipped = whole;
    flipped[i] ^= 1;
    write_file(file('a'), flipped);
    ASSERT_FALSE(has_kept('a')) << i;
    write_file(file('a'), whole.substr(0, i));
    ASSERT_FALSE(has_kept('a')) << i;
  }
  write_file(file('a'), whole + "x");
  EXPECT_FALSE(has_kept('a'));
  EXPECT_EQ(put('a', "some code"), "some code");
  EXPECT_EQ(read_file(file('a')), whole);
}

TEST_F(GswoCache, TakesNothingThatOthersCouldHaveWritten) {
  put('a', "code");
  for (mode_t mode : {0620, 0602, 0666}) {
    ASSERT_EQ(chmod(file('a').c_str(), mode), 0);
    EXPECT_FALSE(has_kept('a'));
  }
  EXPECT_EQ(put('a', "anew"), "anew");
  EXPECT_EQ(find('a'), "anew");

  const std::string elsewhere = folder_.path() + "/elsewhere";
  std::filesystem::rename(file('a'), elsewhere);
  std::filesystem::create_symlink(elsewhere, file('a'));
  EXPECT_FALSE(has_kept('a'));
  put('a', "third");
  EXPECT_EQ(find('a'), "third");
  EXPECT_FALSE(std::filesystem::is_symlink(file('a')));

  std::filesystem::remove(file('a'));
  ASSERT_EQ(mkfifo(file('a').c_str(), 0600), 0);
  EXPECT_FALSE(has_kept('a'));
  if (geteuid() == 0) {
    put('b', "code");
    ASSERT_EQ(chown(file('b').c_str(), 65534, 65534), 0);
    EXPECT_FALSE(has_kept('b'));
  }
}

TEST_F(GswoCache, LeavesFoldersOfOthersAlone) {
  put('a', "code");
  for (mode_t mode : {0770, 0707, 0777}) {
    ASSERT_EQ(chmod(cache_.c_str(), mode), 0);
    EXPECT_FALSE(has_kept('a'));
    EXPECT_EQ(put('b', "other"), "other");
    EXPECT_EQ(files_in(cache_).size(), 1u);
  }
  ASSERT_EQ(chmod(cache_.c_str(), 0755), 0);
  EXPECT_TRUE(has_kept('a'));
  if (geteuid() == 0) {
    ASSERT_EQ(chown(cache_.c_str(), 65534, 65534), 0);
    EXPECT_FALSE(has_kept('a'));
    EXPECT_EQ(put('b', "other"), "other");
    EXPECT_EQ(files_in(cache_).size(), 1u);
  }
}

TEST_F(GswoCache, WorksWithoutAFolder) {
  for (const std::string &nowhere : {std::string(), std::string("/dev/null/cache"), file('a')}) {
    write_file(folder_.path() + "/plain", "");
    cache_ = nowhere.empty() ? nowhere : folder_.path() + "/plain/cache";
    EXPECT_EQ(put('a', "code"), "code");
    EXPECT_FALSE(has_kept('a'));
  }
}

TEST_F(GswoCache, RemovesWhatWasNotUsedForLongest) {
  const std::string code(1000, 'x');
  for (char digit : {'a', 'b', 'c'}) put(digit, code);
  write_file(cache_ + "/notes", std::string(100000, 'n'));
  const std::string abandoned = file('d') + ".12", recent = file('d') + ".34";
  write_file(abandoned, "");
  write_file(recent, "");
  set_age(abandoned, 7200);
  set_age(file('a'), 300);
  set_age(file('b'), 200);
  set_age(file('c'), 100);
  EXPECT_EQ(find('a'), code);  // this counts as a use
  most_ = 4000;
  put('e', code);
  EXPECT_TRUE(has_kept('a'));
  EXPECT_FALSE(has_kept('b'));
  EXPECT_TRUE(has_kept('c'));
  EXPECT_TRUE(has_kept('e'));
  EXPECT_TRUE(std::filesystem::exists(cache_ + "/notes"));
  EXPECT_FALSE(std::filesystem::exists(abandoned));
  EXPECT_TRUE(std::filesystem::exists(recent));
  EXPECT_EQ(put('f', std::string(5000, 'y')), std::string(5000, 'y'));  // too large for the cache
  EXPECT_FALSE(has_kept('f'));
  EXPECT_TRUE(has_kept('e'));
}

TEST(GswoCode, TheCacheHasItsPlace) {
  const Variable cache("XDG_CACHE_HOME", "/var/cache/somebody"), home("HOME", "/home/somebody");
  EXPECT_EQ(default_cache_dir(), "/var/cache/somebody/gst-cudascan");
  for (const char *none : {static_cast<const char *>(nullptr), "", "relative"}) {
    const Variable unset("XDG_CACHE_HOME", none);
    EXPECT_EQ(default_cache_dir(), "/home/somebody/.cache/gst-cudascan");
    const Variable homeless("HOME", none);
    EXPECT_EQ(default_cache_dir(), "");
  }
}

TEST(GswoDigest, IsSha256OfListsOfTexts) {
  // The hashes of "3:abc" and "0:", by sha256sum.
  EXPECT_EQ(Digest().add("abc").hex(),
            "aab5f9ae99b2e38fb462025c8f72f570c9c811705d2a4277dc855d7fa293fe97");
  EXPECT_EQ(Digest().add("").hex(),
            "ba768b331fd86cec803be04e56ab2b3d4c0e98ef4ee4fcd4e72ad7cce61a1d1f");
  EXPECT_EQ(Digest().add(12).hex(), Digest().add("12").hex());
  EXPECT_NE(Digest().add("a").add("bc").hex(), Digest().add("ab").add("c").hex());
  EXPECT_NE(Digest().add("").hex(), Digest().hex());
}

class GswoSharedObject : public testing::Test {
 protected:
  void SetUp() override {
    try {
      code_ = compile_for_cpu(
          {{"user.cpp",
            "template <int n> struct Counter { static inline int count = n; };\n"
            "extern \"C\" {\n"
            "#pragma GCC visibility push(default)\n"
            "int state = 1;\n"
            "const char *optarg = nullptr;\n"  // the C library has a variable of this name
            "int next() { return state++; }\n"
            "int next_inline() { return Counter<5>::count++; }\n"
            "void set_optarg() { optarg = \"\"; }\n"
            "}\n"},
           {},
           {}},
          {});
    } catch (const BadSetting &) {
      throw;
    } catch (const Error &e) {
      GTEST_SKIP() << e.what();
    }
  }
  static int call(const SharedObject &object, const char *name) {
    return reinterpret_cast<int (*)()>(object.symbol(name))();
  }
  std::string code_;
};

TEST_F(GswoSharedObject, HasVariablesOfItsOwn) {
  const SharedObject a(code_), b(code_);
  EXPECT_NE(a.symbol("state"), b.symbol("state"));
  for (const char *name : {"next", "next_inline"}) {
    const int first = call(a, name);
    EXPECT_EQ(call(a, name), first + 1);
    EXPECT_EQ(call(b, name), first);
  }
  EXPECT_EQ(*static_cast<int *>(a.symbol("state")), 3);
  EXPECT_EQ(*static_cast<int *>(b.symbol("state")), 2);
  reinterpret_cast<void (*)()>(a.symbol("set_optarg"))();
  EXPECT_NE(*static_cast<const char **>(a.symbol("optarg")), nullptr);
  EXPECT_EQ(optarg, nullptr);
}

TEST_F(GswoSharedObject, StartsAnewAfterOthers) {
  for (int i = 0; i < 100; ++i) {
    const SharedObject object(code_);
    ASSERT_EQ(call(object, "next"), 1);
    ASSERT_EQ(call(object, "next_inline"), 5);
  }
  const std::size_t before = files_in("/proc/self/fd").size();
  { const SharedObject object(code_); }
  EXPECT_EQ(files_in("/proc/self/fd").size(), before);
}

TEST_F(GswoSharedObject, RefusesOtherBytes) {
  const PrivateFolder folder;
  const Variable temporary("TMPDIR", folder.path());
  for (const std::string &bytes : {std::string(), std::string("no code"), code_.substr(0, 1000),
                                   code_.substr(0, code_.size() - 1)})
    EXPECT_TRUE(has(message_of<Error>([&] { SharedObject{bytes}; }), "cannot be loaded"));
  EXPECT_TRUE(files_in(folder.path()).empty());
}

/// The path of gswo-cc that is found from a library, relative to the folder; "" if there is none.
std::string gswo_cc_from(const std::string &folder, const std::string &library) {
  const auto found = gswo_cc_of(folder + '/' + library);
  return found ? std::filesystem::path(found->path)
                     .lexically_relative(std::filesystem::canonical(folder))
               : "";
}

TEST(GswoTranslator, IsTheOneOfTheBuildOrInstallationOfTheLibrary) {
  const PrivateFolder private_folder;
  const std::string folder = private_folder.path();
  const auto add = [&](const std::string &file, mode_t mode) {
    const std::string path = folder + '/' + file;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    write_file(path, "#!/bin/sh\n");
    chmod(path.c_str(), mode);
    return path;
  };
  EXPECT_EQ(gswo_cc_from(folder, "none.so"), "");
  add("build/kernels/lib.so", 0644);
  EXPECT_EQ(gswo_cc_from(folder, "build/kernels/lib.so"), "");
  add("build/gswo/gswo-cc", 0755);
  EXPECT_EQ(gswo_cc_from(folder, "build/kernels/lib.so"), "build/gswo/gswo-cc");
  std::filesystem::create_symlink(folder + "/build/kernels/lib.so", folder + "/link.so");
  EXPECT_EQ(gswo_cc_from(folder, "link.so"), "build/gswo/gswo-cc");
  // Of two installations, its own.
  add("a/lib/lib.so", 0644), add("b/lib/x86_64-linux-gnu/lib.so", 0644);
  add("a/bin/gswo-cc", 0755);
  EXPECT_EQ(gswo_cc_from(folder, "a/lib/lib.so"), "a/bin/gswo-cc");
  EXPECT_EQ(gswo_cc_from(folder, "b/lib/x86_64-linux-gnu/lib.so"), "");
  const std::string other = add("b/bin/gswo-cc", 0644);
  EXPECT_EQ(gswo_cc_from(folder, "b/lib/x86_64-linux-gnu/lib.so"), "") << "it cannot be run";
  chmod(other.c_str(), 0755);
  EXPECT_EQ(gswo_cc_from(folder, "b/lib/x86_64-linux-gnu/lib.so"), "b/bin/gswo-cc");
  if (chown(other.c_str(), 12345, 12345) == 0) {  // as root
    EXPECT_EQ(gswo_cc_from(folder, "b/lib/x86_64-linux-gnu/lib.so"), "")
        << "another user may have put it there";
  }
}

}  // namespace
}  // namespace cudascan
