// SPDX-License-Identifier: LGPL-2.1-or-later
// The buffers of kernels.
#include "gswo/chain.h"

namespace cudascan::gswo {

using namespace clang;

std::string Buffer::memory_type() const {
  return place == source || place == other ? "GSWO_SRC_T"
         : place == destination            ? "GSWO_DST_T"
                                           : type;
}

std::vector<Chain> unchained(const std::vector<std::unique_ptr<Kernel>> &kernels) {
  std::map<const FunctionDecl *, Chain> chains;
  for (const auto &k : kernels) {
    Chain &chain = chains[k->function];
    chain.function = k->function;
    for (Image &image : k->images) {
      image.read_buffer = image.write_buffer = static_cast<int>(chain.buffers.size());
      chain.buffers.push_back({Buffer::scratch, image.name, image.type, false});
    }
  }
  std::vector<Chain> result;
  for (auto &[function, chain] : chains) result.push_back(std::move(chain));
  return result;
}

}  // namespace cudascan::gswo
