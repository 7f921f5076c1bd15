// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/usercode/tuning.h"

#include <algorithm>
#include <charconv>

#include "common/error.h"
#include "kernels/usercode/code_cache.h"
#include "kernels/usercode/digest.h"
#include "kernels/usercode/gpu_module.h"

namespace cudascan::gswo {
namespace {

struct Variant {
  int tile_width, tile_height, chunk_width, chunk_height;
  UserFilterReads reads;
};
using Reads = UserFilterReads;

// Small windows: the pixels of a thread share reads.
constexpr Variant kSmall[] = {{128, 16, 4, 4, Reads::shared}, {128, 16, 4, 4, Reads::global},
                              {128, 8, 4, 2, Reads::shared},  {64, 16, 2, 4, Reads::shared},
                              {64, 32, 2, 8, Reads::shared},  {128, 32, 4, 8, Reads::shared},
                              {32, 32, 1, 8, Reads::shared},  {32, 16, 1, 4, Reads::shared},
                              {64, 16, 2, 4, Reads::global},  {32, 8, 1, 1, Reads::global},
                              {32, 32, 1, 8, Reads::global},  {128, 16, 4, 4, Reads::texture}};
// Large ones: a tile for many pixels.
constexpr Variant kLarge[] = {{32, 8, 1, 1, Reads::shared},   {32, 16, 1, 1, Reads::shared},
                              {64, 16, 1, 1, Reads::shared},  {32, 32, 1, 8, Reads::shared},
                              {64, 32, 2, 8, Reads::shared},  {128, 16, 4, 4, Reads::shared},
                              {64, 16, 2, 4, Reads::shared},  {32, 8, 1, 1, Reads::global},
                              {128, 16, 4, 4, Reads::global}, {32, 8, 1, 1, Reads::texture}};
constexpr int kMostSmallCells = 81;

std::string key_of(const std::vector<Program> &programs) {
  Digest digest;
  digest.add("tuned").add(gpu_name());
  for (const Program &program : programs) digest.add(program.key);
  return digest.hex();
}

}  // namespace

std::vector<Program> tuning_variants(const UserFilterParams &p, const std::string &text,
                                     const FilterTarget &target) {
  std::vector<Program> programs{filter_program(p, text, target)};
  const auto add = [&](const Variant &variant) {
    UserFilterParams tried = p;
    if (!p.tile_width) tried.tile_width = variant.tile_width;
    if (!p.tile_height) tried.tile_height = variant.tile_height;
    if (!p.chunk_width) tried.chunk_width = variant.chunk_width;
    if (!p.chunk_height) tried.chunk_height = variant.chunk_height;
    if (p.reads == Reads::automatic) tried.reads = variant.reads;
    if (tried.tile_height % tried.chunk_height != 0) return;
    try {
      Program program = filter_program(tried, text, target, p.reads);
      if (std::none_of(programs.begin(), programs.end(),
                       [&](const Program &known) { return known.key == program.key; }))
        programs.push_back(std::move(program));
    } catch (const BadSetting &) {  // not possible with this window
    }
  };
  if (target.mask.count() <= kMostSmallCells)
    std::for_each(std::begin(kSmall), std::end(kSmall), add);
  else
    std::for_each(std::begin(kLarge), std::end(kLarge), add);
  return programs;
}

std::optional<std::size_t> remembered_variant(const std::vector<Program> &programs,
                                              const std::string &cache_dir) {
  const auto kept = CodeCache(cache_dir).find(key_of(programs));
  if (!kept) return std::nullopt;
  std::size_t place = 0;
  const auto [end, error] = std::from_chars(kept->data(), kept->data() + kept->size(), place);
  if (error != std::errc() || end != kept->data() + kept->size() || place >= programs.size())
    return std::nullopt;
  return place;
}

void remember_variant(const std::vector<Program> &programs, std::size_t fastest,
                      const std::string &cache_dir) {
  CodeCache(cache_dir).keep(key_of(programs), std::to_string(fastest));
}

}  // namespace cudascan::gswo
