// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/usercode/shared_object.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string_view>

#include "common/error.h"
#include "kernels/usercode/private_folder.h"

namespace cudascan::gswo {
namespace {

// Loading a truncated object would end the process. The table of sections is the last part.
bool is_whole(std::string_view bytes) {
  ElfW(Ehdr) header;
  if (bytes.size() < sizeof(header)) return false;
  std::memcpy(&header, bytes.data(), sizeof(header));
  return bytes.starts_with(ELFMAG) && header.e_shoff <= bytes.size() &&
         std::size_t{header.e_shnum} * header.e_shentsize <= bytes.size() - header.e_shoff;
}

// The linker treats two equal paths as one object, even after the first is closed, if something
// keeps it loaded. The slashes in this path encode the number of the file, which is unique as long
// as the file is loaded. A counter would not do: a process may have two copies of this library.
std::string path_of(int file) {
  struct stat status {};
  fstat(file, &status);
  std::string path = "/proc/self/fd";
  for (std::uint64_t number = status.st_ino, bits = 0; bits < 64; number /= 2, ++bits)
    path += number % 2 ? "/./" : "/";
  return path + "/" + std::to_string(file);
}

void *load_from_memory(std::string_view bytes) {
  const int file = memfd_create("cudascan-filter", MFD_CLOEXEC);
  if (file < 0) return nullptr;
  ssize_t n = 0;
  while (!bytes.empty() && (n = write(file, bytes.data(), bytes.size())) > 0)
    bytes.remove_prefix(n);
  void *handle = bytes.empty() ? dlopen(path_of(file).c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  close(file);
  return handle;
}

// If files in memory are not allowed or not executable.
void *load_from_file(const std::string &bytes) {
  const PrivateFolder folder;
  folder.write("code.so", bytes);
  return dlopen((folder.path() + "/code.so").c_str(), RTLD_NOW | RTLD_LOCAL);
}

}  // namespace

SharedObject::SharedObject(const std::string &bytes) {
  if (!is_whole(bytes))
    throw Error("the code for the CPU cannot be loaded: it is damaged; compile it again");
  handle_ = load_from_memory(bytes);
  if (!handle_) handle_ = load_from_file(bytes);
  if (!handle_) {
    const char *reason = dlerror();
    throw Error(std::string("the code for the CPU cannot be loaded: ") + (reason ? reason : "") +
                "; if programs cannot be run from the temporary folder, set TMPDIR to "
                "another one");
  }
}

SharedObject::~SharedObject() {
  if (handle_) dlclose(handle_);
}

void *SharedObject::symbol(const char *name) const {
  return dlsym(handle_, name);
}

}  // namespace cudascan::gswo
