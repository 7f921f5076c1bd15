// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The code of users' filters in an executor: which is in use, and which is being compiled.
/// programs.h has the code that is compiled once for all executors, code_cache.h the cache on disk.
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
  std::vector<float> constants;  // current values in the code

  LoadedFilter(const std::string &key, std::shared_ptr<const Built> built)
      : key(key), built(std::move(built)), code(this->built->code) {}
};

template <typename Exec>
using CodeOf = std::conditional_t<std::is_same_v<Exec, Cpu>, SharedObject, GpuModule>;

/// A filter to compile, and what it was made from.
struct WantedFilter {
  UserFilterParams params;  // of_code()
  FilterTarget target;
  std::string text;
  std::vector<Program> variants;  ///< one, or several until the fastest is found
};

/// The state of an executor.
template <typename Exec>
struct FilterState {
  std::list<LoadedFilter<CodeOf<Exec>>> loaded;   // latest first
  std::shared_ptr<WantedFilter> latest, changed;  ///< in use; for the file's new contents
  std::map<std::string, Compiled> under_way;      // by key
  std::optional<SourceFile> file;
  std::string warning;
  std::pair<std::string, std::string> emitted;  // the file that code was written to, and its key
  ChainMemory<Exec> memory, planes;
  std::conditional_t<std::is_same_v<Exec, Cuda>, Textures, std::monostate> textures;
  std::optional<int> architecture;  ///< of its GPU, once it was needed
};

template <typename Exec>
FilterState<Exec> &state_of(Exec &);

/// The filter to use. For a file it may be an older version, while the new one is being compiled or
/// if it cannot be compiled.
template <typename Exec>
std::shared_ptr<WantedFilter> choose(Exec &, FilterTarget, const UserFilterParams &);

/// Starts to compile everything that is not compiled yet.
/// @return whether everything is compiled
template <typename Exec>
bool is_ready(Exec &, const WantedFilter &);

/// Whether the code of a program is loaded.
template <typename Exec>
bool is_loaded(Exec &, const Program &);

/// The code of a program, moved to the front of the loaded ones; waits for it.
template <typename Exec>
LoadedFilter<CodeOf<Exec>> &load(Exec &, const Program &);

}  // namespace cudascan::gswo
