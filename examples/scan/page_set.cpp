// SPDX-License-Identifier: LGPL-2.1-or-later
#include "page_set.h"

#include <unistd.h>

#include "digest.h"

namespace cudascan::scan {

void PageSet::write(File &file) {
  file.file = std::make_unique<NewFile>(file.folder);
  file.file->write(*file.bytes);
}

void PageSet::add(const std::filesystem::path &folder, const std::string &bytes) {
  files_.push_back({folder, &bytes, nullptr});
  write(files_.back());
}

bool PageSet::commit(const std::vector<std::string> &names, const std::vector<std::string> &digests,
                     bool partly) {
  std::vector<std::size_t> named;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const std::filesystem::path path = files_[i].folder / names[i];
    if (files_[i].file->commit(names[i])) {
      named.push_back(i);
    } else if (!partly || digest_of_file(path) != digests[i]) {
      // Another program has just taken the name.
      for (const std::size_t back : named) {
        unlink((files_[back].folder / names[back]).c_str());
        write(files_[back]);
      }
      return false;
    }
  }
  return true;
}

}  // namespace cudascan::scan
