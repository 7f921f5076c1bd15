// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The code of users' filters that an executor keeps: which is in use, and which is being compiled.
/// What is compiled once for all executors is in programs.h, what is kept on disk in code_cache.h.
#pragma once
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/usercode/chain.h"
#include "kernels/usercode/gpu_module.h"
#include "kernels/usercode/programs.h"
#include "kernels/usercode/shared_object.h"
#include "kernels/usercode/source_file.h"
#include "kernels/usercode/target.h"

namespace cudascan::gswo {

/// Code that was loaded by one executor.
template <typename Code>
struct LoadedFilter {
  std::string key;  // of the program
  std::shared_ptr<const Built> built;
  Code code;
  std::vector<float> constants;  // as the code has them now

  LoadedFilter(const std::string &key, std::shared_ptr<const Built> built)
      : key(key), built(std::move(built)), code(this->built->code) {}
};

template <typename Exec>
using CodeOf = std::conditional_t<std::is_same_v<Exec, Cpu>, SharedObject, GpuModule>;

/// A filter that is to be compiled, and what it was made from.
struct WantedFilter {
  UserFilterParams params;  // of_code()
  FilterTarget target;
  std::string text;
  std::vector<Program> variants;  ///< one, or several until the fastest is found
};

/// What an executor keeps.
template <typename Exec>
struct FilterState {
  std::list<LoadedFilter<CodeOf<Exec>>> loaded;   // latest first
  std::shared_ptr<WantedFilter> latest, changed;  ///< in use; of what the file has become
  std::map<std::string, Compiled> under_way;      // by key
  std::optional<SourceFile> file;
  std::string warning;
  std::pair<std::string, std::string> emitted;  // the file that code was written to, and its key
  ChainMemory<Exec> memory, planes;
  std::conditional_t<std::is_same_v<Exec, Cuda>, Textures, std::monostate> textures;
  std::optional<int> architecture;  ///< of its GPU, as soon as it was needed
};

template <typename Exec>
FilterState<Exec> &state_of(Exec &);

/// The filter to use: that of a file may be an older one, as long as what is in it now is being
/// compiled, or when that cannot be compiled.
template <typename Exec>
std::shared_ptr<WantedFilter> choose(Exec &, FilterTarget, const UserFilterParams &);

/// Begins to compile what is not yet compiled.
/// @return whether all is
template <typename Exec>
bool is_ready(Exec &, const WantedFilter &);

/// Whether the code of a program is loaded.
template <typename Exec>
bool is_loaded(Exec &, const Program &);

/// The code of a program, in front of all that is loaded; waits for it.
template <typename Exec>
LoadedFilter<CodeOf<Exec>> &load(Exec &, const Program &);

}  // namespace cudascan::gswo
