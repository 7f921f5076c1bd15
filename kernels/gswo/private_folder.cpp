// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/gswo/private_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "common/error.h"

namespace cudascan::gswo {
namespace {

namespace fs = std::filesystem;

std::string temporary_folder() {
  const char *folder = std::getenv("TMPDIR");
  return folder && *folder == '/' ? folder : "/tmp";
}

}  // namespace

PrivateFolder::PrivateFolder() : path_(temporary_folder() + "/gst-cudascan-XXXXXX") {
  if (!mkdtemp(path_.data()))
    throw Error("no temporary folder could be made in " + temporary_folder() + ": " +
                std::strerror(errno) + "; set TMPDIR to a folder that can be written to");
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void PrivateFolder::write(const std::string &name, const std::string &contents) const {
  const fs::path path = fs::path(path_) / name;
  std::error_code ignored;  // the file then cannot be opened
  fs::create_directories(path.parent_path(), ignored);
  std::ofstream file(path, std::ios::binary);
  file.write(contents.data(), static_cast<std::streamsize>(contents.size()));
  if (!file.flush())
    throw Error("cannot write to the temporary folder " + temporary_folder() +
                "; free some space there, or set TMPDIR to another folder");
}

std::string PrivateFolder::read(const std::string &name) const {
  std::ifstream file(fs::path(path_) / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace cudascan::gswo
