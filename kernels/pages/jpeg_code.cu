// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/pages/jpeg_code.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "kernels/base/launch.cuh"

namespace cudascan::pages {
namespace {

constexpr int kThreads = 512;
constexpr int kPartBytes = 128, kPartBits = 8 * kPartBytes;  // of a thread
constexpr int kPasses = 5;                                   // the last one must change nothing
constexpr int kQuickBits = 9, kLongest = 16;
constexpr int kNoCode = 31;  // longer than all codes
constexpr int kBlockEnd = 64;
constexpr int kKey = 0;

/// A table in the form in which it is looked up.
struct LookUp {
  std::uint16_t quick[1 << kQuickBits];  ///< symbol << 8 | length; 0 = the code is longer
  std::int32_t last[kLongest + 1];       ///< the last code of a length, -1 = there is none
  std::int32_t offset[kLongest + 1];     ///< from a code to the place of its symbol
  std::uint8_t symbols[256];
};

struct Part {
  std::uint32_t segment, number;  ///< the part of its segment
};

struct CodeJob {
  const std::uint32_t *words;  ///< the code, aligned
  const LookUp *tables;        ///< DC 0 and 1, AC 0 and 1
  const CodeSegment *segments;
  const Part *parts;
  int count, segment_count;
  int unit;  ///< blocks
  std::uint8_t dc[JpegCode::kMostBlocks], ac[JpegCode::kMostBlocks];
  std::uint32_t *begins, *ends[2], *blocks, *bad;  ///< by part
  std::uint32_t *changed;                          ///< by pass
  std::uint32_t *result;
};

/// The state of a decoder between two symbols.
struct DecoderState {
  int beyond;  ///< bits from the begin of the part
  int block;   ///< of the unit
  int at;      ///< coefficient, 0 = the next symbol is of the DC table

  __device__ static DecoderState unpack(std::uint32_t packed) {
    return {static_cast<int>(packed >> 16), static_cast<int>(packed >> 8 & 255),
            static_cast<int>(packed & 255)};
  }
  __device__ std::uint32_t pack() const {
    return static_cast<std::uint32_t>(beyond) << 16 | static_cast<unsigned>(block) << 8 |
           static_cast<unsigned>(at);
  }
};

/// The bits of the code from some bit on.
class CodeReader {
 public:
  __device__ CodeReader(const std::uint32_t *words, std::uint64_t bit) : next_(words + bit / 32) {
    const int skipped = static_cast<int>(bit % 32);
    bits_ = static_cast<std::uint64_t>(word()) << 32;
    bits_ = (bits_ | word()) << skipped;
    have_ = 64 - skipped;
  }
  __device__ unsigned peek() const { return static_cast<unsigned>(bits_ >> 48); }
  /// At most 31 bits.
  __device__ void skip(int bits) {
    bits_ <<= bits;
    have_ -= bits;
    if (have_ > 32) return;
    bits_ |= static_cast<std::uint64_t>(word()) << (32 - have_);
    have_ += 32;
  }

 private:
  __device__ std::uint32_t word() { return __byte_perm(*next_++, 0, 0x0123); }

  const std::uint32_t *next_;
  std::uint64_t bits_;
  int have_;
};

/// symbol << 8 | length, the length kNoCode if the bits are no code.
__device__ unsigned find_symbol(const LookUp &table, unsigned bits) {
  const unsigned quick = table.quick[bits >> (kLongest - kQuickBits)];
  if (quick != 0) return quick;
  for (int length = kQuickBits + 1; length <= kLongest; ++length) {
    const int code = static_cast<int>(bits >> (kLongest - length));
    if (code <= table.last[length])
      return static_cast<unsigned>(table.symbols[(code + table.offset[length]) & 255]) << 8 |
             static_cast<unsigned>(length);
  }
  return kNoCode;
}

/// What a thread finds in its part.
struct PartFindings {
  std::uint32_t end;  ///< state; in the last part of a segment, `beyond` are the bits that are left
  std::uint32_t blocks, bad;
};

__device__ PartFindings decode_part(const CodeJob &job, const LookUp *tables, const Part &part,
                                    std::uint32_t begin) {
  const CodeSegment &segment = job.segments[part.segment];
  const std::uint32_t first = segment.begin + part.number * kPartBytes;
  // Bits up to the end of the segment, or more than are of interest.
  const int room = 8 * static_cast<int>(min(segment.end - first, 4u * kPartBytes));
  const bool is_last = room <= kPartBits;
  DecoderState state = DecoderState::unpack(begin);
  PartFindings found{};
  CodeReader reader(job.words, 8 * std::uint64_t{first} + static_cast<unsigned>(state.beyond));
  while (state.beyond < (is_last ? room : kPartBits)) {
    const bool dc = state.at == 0;
    const LookUp &table = tables[dc ? job.dc[state.block] : 2 + job.ac[state.block]];
    const unsigned symbol = find_symbol(table, reader.peek());
    int length = static_cast<int>(symbol & 255);
    const int left = room - state.beyond;
    if (length > left || (length == kNoCode && left < kLongest)) break;  // no whole code is left
    if (length == kNoCode) {
      found.bad = 1;
      length = kLongest;
    }
    const int value = static_cast<int>(symbol >> 8), size = value & 15, run = value >> 4;
    if (length + size > left) {
      found.bad = 1;
      break;
    }
    reader.skip(length + size);
    state.beyond += length + size;
    if (dc)
      state.at = 1;
    else if (size == 0 && run != 15)
      state.at = kBlockEnd;
    else
      state.at += run + 1;
    if (state.at < kBlockEnd) continue;
    ++found.blocks;
    state.at = 0;
    if (++state.block == job.unit) state.block = 0;
  }
  if (is_last)
    state.beyond = room - state.beyond;
  else if (state.beyond >= kPartBits)
    state.beyond -= kPartBits;
  else  // the code has ended, but bytes are left
    found.bad = 1, state.beyond = 0;
  found.end = state.pack();
  return found;
}

/// A pass over the code. Threads of a block hand their states on until none changes; the last one
/// of a block hands its state to the next pass.
__global__ void __launch_bounds__(kThreads)
    check_code_kernel(const __grid_constant__ CodeJob job, int pass) {
  __shared__ LookUp tables[4];
  __shared__ std::uint32_t ends[kThreads];
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < static_cast<int>(sizeof tables / 4); i += kThreads)
    reinterpret_cast<std::uint32_t *>(tables)[i] =
        reinterpret_cast<const std::uint32_t *>(job.tables)[i];
  const int i = static_cast<int>(blockIdx.x) * kThreads + t;
  const bool is_part = i < job.count;
  const Part part = is_part ? job.parts[i] : Part{};
  const std::uint32_t *const before = job.ends[(pass + 1) % 2];
  std::uint32_t begin = pass > 0 && is_part ? job.begins[i] : 0;
  PartFindings found{};
  if (pass > 0 && is_part) found = {before[i], job.blocks[i], job.bad[i]};
  bool decodes = pass == 0 && is_part, has_changed = false;
  ends[t] = found.end;
  __syncthreads();
  // In the first round of the first pass all decode, from a state that they guess.
  for (bool guesses = pass == 0;; guesses = false) {
    if (!guesses && is_part && part.number > 0 && (t > 0 || pass > 0)) {
      const std::uint32_t wanted = t > 0 ? ends[t - 1] : before[i - 1];
      decodes = wanted != begin;
      begin = wanted;
    }
    __syncthreads();
    if (decodes) {
      found = decode_part(job, tables, part, begin);
      ends[t] = found.end;
      has_changed = true;
    }
    if (__syncthreads_count(decodes) == 0) break;
    decodes = false;
  }
  if (!is_part) return;
  job.begins[i] = begin;
  job.ends[pass % 2][i] = found.end;
  job.blocks[i] = found.blocks;
  job.bad[i] = found.bad;
  if (has_changed) job.changed[pass] = 1;
}

/// A block looks at a segment.
__global__ void __launch_bounds__(kThreads)
    judge_code_kernel(const __grid_constant__ CodeJob job, const std::uint32_t *firsts) {
  __shared__ std::uint32_t blocks, bad;
  if (threadIdx.x == 0) blocks = bad = 0;
  __syncthreads();
  const std::uint32_t begin = firsts[blockIdx.x], end = firsts[blockIdx.x + 1];
  for (std::uint32_t i = begin + threadIdx.x; i < end; i += kThreads) {
    atomicAdd(&blocks, job.blocks[i]);
    if (job.bad[i]) atomicOr(&bad, 1u);
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  const DecoderState last = DecoderState::unpack(job.ends[(kPasses - 1) % 2][end - 1]);
  const bool whole = blocks == job.segments[blockIdx.x].blocks && bad == 0 && last.block == 0 &&
                     last.at == 0 && last.beyond < 8;
  if (!whole) atomicOr(job.result, 1u);
  if (blockIdx.x == 0 && job.changed[kPasses - 1]) atomicOr(job.result, 2u);
}

LookUp look_up_of(const HuffmanTable &table) {
  LookUp result{};
  std::copy(table.symbols.begin(), table.symbols.end(), result.symbols);
  int code = 0, symbol = 0;
  for (int length = 1; length <= kLongest; ++length, code <<= 1) {
    const int count = table.counts[length - 1];
    result.offset[length] = symbol - code;
    result.last[length] = count > 0 ? code + count - 1 : -1;
    for (int i = 0; i < count; ++i, ++code, ++symbol) {
      if (length > kQuickBits) continue;
      const int shift = kQuickBits - length;
      std::fill_n(result.quick + (code << shift), 1 << shift,
                  static_cast<std::uint16_t>(table.symbols[symbol] << 8 | length));
    }
  }
  return result;
}

/// What an executor keeps.
struct CodeState {
  cuda::DeviceBuffer device;
  cuda::PinnedBuffer host;
};

}  // namespace

const std::uint32_t *queue_check(Cuda &cuda, const JpegCode &code) {
  std::vector<Part> parts;
  std::vector<std::uint32_t> firsts;
  for (std::uint32_t s = 0; s < code.segments.size(); ++s) {
    const std::uint32_t bytes = code.segments[s].end - code.segments[s].begin;
    firsts.push_back(static_cast<std::uint32_t>(parts.size()));
    for (std::uint32_t i = 0; i == 0 || i < (bytes + kPartBytes - 1) / kPartBytes; ++i)
      parts.push_back({s, i});
  }
  firsts.push_back(static_cast<std::uint32_t>(parts.size()));
  std::shared_ptr<void> &kept = cuda.kept(&kKey);
  if (!kept) kept = std::make_shared<CodeState>();
  auto &state = *static_cast<CodeState *>(kept.get());

  // What is uploaded, then what the kernels write; each aligned to 16 bytes.
  std::size_t end = 0;
  const auto place = [&](std::size_t bytes) {
    const std::size_t at = end;
    end += (bytes + 15) / 16 * 16;
    return at;
  };
  const std::size_t n = parts.size(), numbers = sizeof(std::uint32_t) * n;
  const std::size_t tables = place(4 * sizeof(LookUp)),
                    segments = place(sizeof(CodeSegment) * code.segments.size()),
                    list = place(sizeof(Part) * n),
                    first = place(sizeof(std::uint32_t) * firsts.size());
  const std::size_t uploaded = end;
  const std::size_t zeros = place(sizeof(std::uint32_t) * (kPasses + 1));
  std::size_t memory[5];
  for (std::size_t &one : memory) one = place(numbers);
  const std::size_t bytes = place(code.size + JpegCode::kAfter);
  // With room for the next page, which may be larger.
  auto *const device = static_cast<unsigned char *>(state.device.reserve(end + end / 4));
  auto *const host = static_cast<unsigned char *>(state.host.reserve(uploaded));
  const LookUp look_ups[] = {look_up_of(code.dc_tables[0]), look_up_of(code.dc_tables[1]),
                             look_up_of(code.ac_tables[0]), look_up_of(code.ac_tables[1])};
  std::memcpy(host + tables, look_ups, sizeof look_ups);
  std::memcpy(host + segments, code.segments.data(), sizeof(CodeSegment) * code.segments.size());
  std::memcpy(host + list, parts.data(), sizeof(Part) * n);
  std::memcpy(host + first, firsts.data(), sizeof(std::uint32_t) * firsts.size());
  cuda::copy_rows(device, 0, host, 0, uploaded, 1, cuda.stream());
  cuda::copy_rows(device + bytes, 0, code.bytes, 0, code.size + JpegCode::kAfter, 1, cuda.stream());
  cuda.clear(device + zeros, sizeof(std::uint32_t) * (kPasses + 1));

  const auto at = [&](std::size_t offset) {
    return reinterpret_cast<std::uint32_t *>(device + offset);
  };
  CodeJob job{};
  job.words = at(bytes);
  job.tables = reinterpret_cast<const LookUp *>(device + tables);
  job.segments = reinterpret_cast<const CodeSegment *>(device + segments);
  job.parts = reinterpret_cast<const Part *>(device + list);
  job.count = static_cast<int>(n);
  job.segment_count = static_cast<int>(code.segments.size());
  job.unit = static_cast<int>(code.dc.size());
  std::copy(code.dc.begin(), code.dc.end(), job.dc);
  std::copy(code.ac.begin(), code.ac.end(), job.ac);
  job.begins = at(memory[0]);
  job.ends[0] = at(memory[1]);
  job.ends[1] = at(memory[2]);
  job.blocks = at(memory[3]);
  job.bad = at(memory[4]);
  job.changed = at(zeros);
  job.result = job.changed + kPasses;
  const unsigned blocks = static_cast<unsigned>(divide_up(job.count, kThreads));
  for (int pass = 0; pass < kPasses; ++pass)
    launch(cuda, check_code_kernel, {blocks, kThreads}, job, pass);
  launch(cuda, judge_code_kernel, {static_cast<unsigned>(job.segment_count), kThreads}, job,
         at(first));
  auto *const result = static_cast<std::uint32_t *>(cuda.report_memory(sizeof(std::uint32_t)));
  cuda.fetch(result, job.result, sizeof *result);
  return result;
}

}  // namespace cudascan::pages
