// SPDX-License-Identifier: LGPL-2.1-or-later
// Sliding windows compared with scikit-image: ranks with filters.rank, thinning as Guo and Hall
// with morphology.thin, reconstructions with morphology.reconstruction. make_reference.py makes the
// table.
#include <map>
#include <sstream>
#include <string>

#include "kernels/swofilter.h"
#include "tests/kernels/operator_test.h"

namespace cudascan {
namespace {

constexpr int kWidth = 203, kHeight = 151;

const struct {
  const char *picture, *settings;
  std::uint64_t hash;  // FNV-1a hash of the result's bytes
} kReference[] = {
    // clang-format off
    {"gray", "operator=median window=3", 0xb5f708927f1fd837u},
    {"gray", "operator=mode window=3", 0x231701eedc9c3561u},
    {"gray", "operator=rank percentile=12.5 window=3", 0xcded7bf70b57dbd6u},
    {"gray", "operator=rank percentile=100 window=3", 0x4d39c8cb5756c925u},
    {"gray", "operator=median window-width=7 window-height=5", 0x56da61f5df2291b3u},
    {"gray", "operator=mode window-width=7 window-height=5", 0x66d5c531c39a57ceu},
    {"gray", "operator=rank percentile=12.5 window-width=7 window-height=5", 0xd405f70a3931fd79u},
    {"gray", "operator=rank percentile=100 window-width=7 window-height=5", 0x910ddfb9ff9c5d32u},
    {"gray", "operator=median shape=cross window=9", 0xfbb0ba29d038c31au},
    {"gray", "operator=mode shape=cross window=9", 0x53939163061d2244u},
    {"gray", "operator=rank percentile=12.5 shape=cross window=9", 0x44a9b94623cbbc7fu},
    {"gray", "operator=rank percentile=100 shape=cross window=9", 0x812763649400014bu},
    {"gray", "operator=median shape=11000;00100;00111", 0x1fb02e0aee1f510bu},
    {"gray", "operator=mode shape=11000;00100;00111", 0x51f2f8b5650687fcu},
    {"gray", "operator=rank percentile=12.5 shape=11000;00100;00111", 0x4e69d0e55a94064au},
    {"gray", "operator=rank percentile=100 shape=11000;00100;00111", 0x4661fd21f44403c0u},
    {"deep", "operator=median window=3", 0x38e59f8b6c754210u},
    {"deep", "operator=mode window=3", 0xf0f04568da566436u},
    {"deep", "operator=rank percentile=12.5 window=3", 0x7debd9ac67ef6e69u},
    {"deep", "operator=rank percentile=100 window=3", 0x6d664c4d1a1e30b4u},
    {"deep", "operator=median window-width=7 window-height=5", 0x689efb80a36dffbau},
    {"deep", "operator=mode window-width=7 window-height=5", 0x996cd82d14f4c24du},
    {"deep", "operator=rank percentile=12.5 window-width=7 window-height=5", 0xbe5c1e66f81be65bu},
    {"deep", "operator=rank percentile=100 window-width=7 window-height=5", 0x5cf2405cce829c3bu},
    {"deep", "operator=median shape=cross window=9", 0x361b01b6f5a029edu},
    {"deep", "operator=mode shape=cross window=9", 0x837bee4ba246e536u},
    {"deep", "operator=rank percentile=12.5 shape=cross window=9", 0xe645a9327f603f3au},
    {"deep", "operator=rank percentile=100 shape=cross window=9", 0xb840f568e73ae07bu},
    {"deep", "operator=median shape=11000;00100;00111", 0x33cb97fa2fb8b3d5u},
    {"deep", "operator=mode shape=11000;00100;00111", 0x8f758c7032ded80eu},
    {"deep", "operator=rank percentile=12.5 shape=11000;00100;00111", 0x6dd063a10a6fecddu},
    {"deep", "operator=rank percentile=100 shape=11000;00100;00111", 0x57a93c064d140f56u},
    {"gray", "operator=reconstruct connectivity=8", 0x5808ad7707e885aeu},
    {"gray", "operator=h-dome connectivity=8", 0xe05f303b693ca4bcu},
    {"gray", "operator=h-basin connectivity=8", 0x00aca0fbcbdc263du},
    {"gray", "operator=fill-holes connectivity=8", 0x734002f4c0e190a1u},
    {"gray", "operator=clear-border connectivity=8", 0x90c565efd34d66bcu},
    {"gray", "operator=reconstruct connectivity=4", 0xd63a0ebd2e3fc86du},
    {"gray", "operator=h-dome connectivity=4", 0x943536e231d6ae09u},
    {"gray", "operator=h-basin connectivity=4", 0x8045c04a6007c490u},
    {"gray", "operator=fill-holes connectivity=4", 0x26e84b42a56d7c06u},
    {"gray", "operator=clear-border connectivity=4", 0x9cffc9aa324c62d2u},
    {"deep", "operator=reconstruct connectivity=8", 0x3206cfcb769906d3u},
    {"deep", "operator=h-dome connectivity=8", 0xdc9de5d8de147519u},
    {"deep", "operator=h-basin connectivity=8", 0xb5ad6659c9e1745fu},
    {"deep", "operator=fill-holes connectivity=8", 0xab8da8c370c94cebu},
    {"deep", "operator=clear-border connectivity=8", 0xe327ee8dbb34bdffu},
    {"deep", "operator=reconstruct connectivity=4", 0x358451048997f551u},
    {"deep", "operator=h-dome connectivity=4", 0x7f5170412a850682u},
    {"deep", "operator=h-basin connectivity=4", 0x50a34cfd474341d8u},
    {"deep", "operator=fill-holes connectivity=4", 0x4ec048833d96f020u},
    {"deep", "operator=clear-border connectivity=4", 0x27011f66b257e5cau},
    {"bilevel", "operator=fill-holes connectivity=8", 0x4b6abcf5240c34a6u},
    {"bilevel", "operator=clear-border connectivity=8", 0x95da01349c155cc6u},
    {"bilevel", "operator=fill-holes connectivity=4", 0x0d70de26a024084du},
    {"bilevel", "operator=clear-border connectivity=4", 0x4f7ebca98a038bc7u},
    {"bilevel", "operator=thin thinning=guo-hall iterations=0", 0x3b9e0cc3600e0429u},
    {"bilevel", "operator=thicken thinning=guo-hall iterations=0", 0xe76a8138568b468cu},
    {"bilevel", "operator=thin thinning=guo-hall iterations=1", 0x8063d867f778c354u},
    {"bilevel", "operator=thicken thinning=guo-hall iterations=1", 0xd556169e95059350u},
    {"bilevel", "operator=thin thinning=guo-hall iterations=3", 0x6da32054552cfb5au},
    {"bilevel", "operator=thicken thinning=guo-hall iterations=3", 0xfe5f96e10a67ebe4u},
    // clang-format on
};

std::uint32_t noise_at(std::uint32_t x, std::uint32_t y) {
  std::uint32_t n = x * 374761393u + y * 668265263u;
  n = (n ^ n >> 13) * 1274126177u;
  return n ^ n >> 16;
}

/// @param kind  "gray", "deep" (12 bits) or "bilevel"
template <typename T>
std::vector<T> picture_of(const std::string &kind) {
  std::vector<T> samples;
  for (unsigned y = 0; y < kHeight; ++y)
    for (unsigned x = 0; x < kWidth; ++x) {
      const unsigned wave = ((x * x + 2 * y * y) / 97 + 3 * x + 5 * y) % 1024;
      const unsigned deep = wave * 3 + noise_at(x, y) % 1024;
      const bool white =
          (((x * x + 2 * y * y) / 400 + x * y / 300) % 3 != 0) != (noise_at(x, y) % 61 == 0);
      samples.push_back(static_cast<T>(kind == "deep"   ? deep
                                       : kind == "gray" ? deep / 16
                                       : white          ? 255
                                                        : 0));
    }
  return samples;
}

/// Parameters from settings in the syntax of gst-launch-1.0.
SwoFilterParams parse(const char *settings) {
  using Op = SwoFilterOperator;
  const std::map<std::string, Op> ops = {{"median", Op::median},
                                         {"mode", Op::mode},
                                         {"rank", Op::rank},
                                         {"reconstruct", Op::reconstruct},
                                         {"h-dome", Op::h_dome},
                                         {"h-basin", Op::h_basin},
                                         {"fill-holes", Op::fill_holes},
                                         {"clear-border", Op::clear_border},
                                         {"thin", Op::thin},
                                         {"thicken", Op::thicken}};
  SwoFilterParams params;
  params.thinning = SwoFilterThinning::guo_hall;
  std::istringstream words(settings);
  for (std::string word; words >> word;) {
    const std::string key = word.substr(0, word.find('=')), value = word.substr(key.size() + 1);
    if (key == "operator") params.op = ops.at(value);
    if (key == "window") params.window = std::stoi(value);
    if (key == "window-width") params.window_width = std::stoi(value);
    if (key == "window-height") params.window_height = std::stoi(value);
    if (key == "shape") params.shape = value;
    if (key == "percentile") params.percentile = std::stod(value);
    if (key == "iterations") params.iterations = std::stoi(value);
    if (key == "connectivity") params.connectivity = std::stoi(value);
  }
  return params;
}

template <typename T, typename Runner>
std::uint64_t hash_of_result(Runner &runner, const std::string &kind,
                             const SwoFilterParams &params) {
  const test::Image<T> in(picture_of<T>(kind), kWidth, kHeight);
  const auto samples =
      test::outcome<T>(runner, in, {}, std::numeric_limits<T>::max(), params, 0x5a).samples;
  std::uint64_t hash = 14695981039346656037u;
  for (const T sample : samples)
    for (unsigned byte = 0; byte < sizeof(T); ++byte)
      hash = (hash ^ (sample >> 8 * byte & 0xff)) * 1099511628211u;
  return hash;
}

template <typename Runner>
void compare() {
  Runner runner;
  const bool slow = std::is_same_v<Runner, test::CudaRunner> && test::gpu_is_emulated();
  for (std::size_t i = 0; i < std::size(kReference); i += slow ? 5 : 1) {
    const auto &[kind, settings, hash] = kReference[i];
    const SwoFilterParams params = parse(settings);
    EXPECT_EQ(std::string(kind) == "deep" ? hash_of_result<std::uint16_t>(runner, kind, params)
                                          : hash_of_result<std::uint8_t>(runner, kind, params),
              hash)
        << kind << ", " << settings;
  }
}

TEST(SwoFilterReference, IsThatOfScikitImage) {
  compare<test::CpuRunner>();
}
#ifdef HAVE_CUDA
TEST(SwoFilterReference, CudaIsThatOfScikitImage) {
  NEED_GPU();
  compare<test::CudaRunner>();
}
#endif

}  // namespace
}  // namespace cudascan
