// SPDX-License-Identifier: LGPL-2.1-or-later
// A process with two copies of the library, such as a program and a plugin that each have one.
#include <dlfcn.h>

#include <memory>
#include <new>

#include "kernels/usercode/shared_object.h"
#include "tests/usercode/support.h"
#include "tests/usercode/units.h"

namespace cudascan {
namespace {

using namespace gswo;
using namespace test;

/// Another copy of the library, with variables of its own.
class Copy {
 public:
  explicit Copy(const std::string &name) {
    Dl_info library{};
    dladdr(reinterpret_cast<void *>(&default_cache_dir), &library);
    const std::string path = folder_.path() + '/' + name;
    std::filesystem::copy_file(library.dli_fname, path);
    handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  ~Copy() {
    if (handle_) dlclose(handle_);
  }

  /// A SharedObject that this copy made; nullptr if the copy was not loaded.
  std::unique_ptr<SharedObject> load(const std::string &code) const {
    // The constructor, by the name that C++ compilers for Linux give it.
    void *constructor =
        handle_ ? dlsym(handle_,
                        "_ZN8cudascan4gswo12SharedObjectC1ERKNSt7__cxx1112basic_stringIcSt11char_"
                        "traitsIcESaIcEEE")
                : nullptr;
    if (!constructor) return nullptr;
    void *memory = operator new(sizeof(SharedObject));
    reinterpret_cast<void (*)(void *, const std::string &)>(constructor)(memory, code);
    return std::unique_ptr<SharedObject>(static_cast<SharedObject *>(memory));
  }

 private:
  PrivateFolder folder_;
  void *handle_ = nullptr;
};

TEST(GswoCopies, EachLoadsItsOwnCode) {
  NEED_COMPILER();
  const Copy copies[] = {Copy("first.so"), Copy("second.so")};
  std::unique_ptr<SharedObject> objects[2];
  for (int i : {0, 1}) {
    objects[i] = copies[i].load(
        compile_for_cpu(unit(kExported + "int get() { return " + std::to_string(i) + "; }"), {}));
    ASSERT_TRUE(objects[i]) << dlerror();
    EXPECT_EQ(reinterpret_cast<int (*)()>(objects[i]->symbol("get"))(), i);
  }
}

}  // namespace
}  // namespace cudascan
