// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/binary/binary.h"

#include <algorithm>
#include <atomic>

#include "kernels/swofilter/binary/packed_rows.h"
#include "kernels/swofilter/binary/patterns.h"

namespace cudascan::swo {
namespace {

using namespace packed;

/// Samples with any of these bits are white.
template <typename T>
T levels_of(const FilterJob &job) {
  return static_cast<T>(~0u << job.shift);
}

/// Hands out parts of an executor's scratch memory.
class Memory {
 public:
  Memory(Cpu &cpu, std::size_t words)
      : next_(static_cast<Word *>(cpu.scratch(words * sizeof(Word)))) {}
  Word *take(std::size_t words) {
    Word *const begin = next_;
    next_ += words;
    return begin;
  }

 private:
  Word *next_;
};

// ---- Thinning
// ------------------------------------------------------------------------------------

/// Thins the white pixels of a packed image. The image is divided into parts. A part is skipped
/// while nothing has changed in and around it for a pass.
class Thinning {
 public:
  Thinning(Cpu &cpu, int width, int height, const FilterJob &job)
      : cpu_(cpu),
        templates_(thinning::make_templates(job.masks)),
        schedule_(thinning::Schedule::of(job, templates_.size())),
        words_(words_of(width)),
        pitch_(words_ + 2),
        groups_((height + kThinnedRows - 1) / kThinnedRows),
        parts_((words_ + kPartWords - 1) / kPartWords) {
    const std::size_t image = std::size_t(groups_ * kThinnedRows + 2) * pitch_;
    const std::size_t parts = std::size_t(groups_) * parts_;
    Memory memory(cpu, 2 * image + 2 * parts);
    for (Word *&buffer : buffers_) {
      buffer = memory.take(image);
      std::fill_n(buffer, image, 0);
    }
    for (std::int64_t *&last : last_) {
      last = reinterpret_cast<std::int64_t *>(memory.take(parts));
      std::fill_n(last, parts, -1);
    }
  }

  /// A row of the image, in the buffer that the next step reads. The surroundings of the image are
  /// black and must stay so.
  Word *row(int y) { return row(buffers_[next_ % 2], y); }
  int words() const { return words_; }

  /// Returns the number of passes.
  std::int64_t run() {
    std::int64_t last = -1;
    for (; next_ < schedule_.steps && !schedule_.stable(last, next_); ++next_) {
      const auto turn = static_cast<std::size_t>(next_ % schedule_.period);
      ThinningStep step{schedule_.method, turn == 1};
      if (step.method == SwoFilterThinning::templates)
        step.pattern = thinning::WideTemplate<Word>::of(templates_[turn]);
      std::atomic<bool> changed = false;
      cpu_.for_bands(groups_, kMinGroups, [&](int begin, int end) {
        bool any = false;
        for (int group = begin; group < end; ++group)
          for (int part = 0; part < parts_; ++part) any |= thin(group, part, step);
        if (any) changed.store(true, std::memory_order_relaxed);
      });
      if (changed) last = next_;
    }
    return schedule_.passes(last);
  }

 private:
  static constexpr int kPartWords = 16, kMinGroups = 32;

  Word *row(Word *buffer, int y) const { return buffer + (y + 1) * std::ptrdiff_t{pitch_} + 1; }

  /// The last step that changed something in a part or next to it.
  std::int64_t last_around(const std::int64_t *last, int group, int part) const {
    std::int64_t latest = -1;
    for (int g = std::max(group - 1, 0); g <= std::min(group + 1, groups_ - 1); ++g)
      for (int p = std::max(part - 1, 0); p <= std::min(part + 1, parts_ - 1); ++p)
        latest = std::max(latest, last[std::size_t(g) * parts_ + p]);
    return latest;
  }

  bool thin(int group, int part, const ThinningStep &step) {
    const std::int64_t *const before = last_[next_ % 2];
    const std::size_t i = std::size_t(group) * parts_ + part;
    std::int64_t &after = last_[(next_ + 1) % 2][i];
    after = before[i];
    // A part is skipped after at least two steps without a change, so both buffers have it.
    if (last_around(before, group, part) < next_ - schedule_.period) return false;
    const int x = part * kPartWords, y = group * kThinnedRows;
    const bool changed =
        word_loops().thin(row(buffers_[next_ % 2], y) + x, row(buffers_[(next_ + 1) % 2], y) + x,
                          pitch_, std::min(kPartWords, words_ - x), step);
    if (changed) after = next_;
    return changed;
  }

  Cpu &cpu_;
  std::vector<thinning::Template> templates_;
  thinning::Schedule schedule_;
  int words_, pitch_, groups_, parts_;
  Word *buffers_[2];
  std::int64_t *last_[2];  // of each part, the last step that changed it
  std::int64_t next_ = 0;  // step
};

/// Inverts the n pixels of a row.
void invert(Word *row, int n) {
  word_loops().complement(row, words_of(n), row);
  if (n % kBits) row[n / kBits] &= (Word{1} << n % kBits) - 1;
}

template <typename T, typename Out>
void thin(Cpu &cpu, Plane<const T> in, Plane<Out> out, const FilterJob &job,
          SwoFilterReport *report) {
  constexpr int kMinRows = 64;
  const bool inverted = job.op == SwoFilterOperator::thicken;
  Thinning thinning(cpu, in.width, in.height, job);
  cpu.for_bands(in.height, kMinRows, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) {
      pixel_loops<T>().pack(in.row(y), in.width, levels_of<T>(job), thinning.row(y));
      if (inverted) invert(thinning.row(y), in.width);
    }
  });
  const std::int64_t passes = thinning.run();
  if (report) report->iterations = static_cast<int>(passes);
  cpu.for_bands(in.height, kMinRows, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) {
      if (inverted) invert(thinning.row(y), in.width);
      pixel_loops<Out>().unpack(thinning.row(y), in.width, out.maximum, out.row(y));
    }
  });
}

// ---- Hit-or-miss
// ---------------------------------------------------------------------------------

void put(Word *row, int x, bool bit) {
  Word &word = row[x >> 6];
  const Word mask = Word{1} << (x & 63);
  word = bit ? word | mask : word & ~mask;
}

/// Processes one slab of rows after another, so that the planes need limited memory.
template <typename T, typename Out>
class HitOrMiss {
 public:
  HitOrMiss(Cpu &cpu, Plane<const T> in, Plane<Out> out, const FilterJob &job)
      : cpu_(cpu), in_(in), out_(out), job_(job), plan_(patterns::make_plan(job.masks)) {
    margin_ = words_of(plan_.rx);
    columns_ = margin_ + words_of(in.width) + margin_;
    // Shifted rows are read beyond their ends; the values there affect no pixel of the result.
    pitch_ = columns_ + 3;
    constexpr std::size_t kMostWords = 8 << 20;
    const auto most_rows = static_cast<int>(kMostWords / plan_.planes() / pitch_);
    rows_ = std::min(std::max(most_rows - 2 * plan_.ry, 4 * plan_.ry + 64), in.height);
    plane_words_ = std::size_t(rows_ + 2 * plan_.ry) * pitch_;
    Memory memory(cpu, plan_.planes() * plane_words_ + std::size_t(2) * rows_ * columns_);
    planes_ = memory.take(plan_.planes() * plane_words_);
    results_ = memory.take(std::size_t(2) * rows_ * columns_);
  }

  void run() {
    for (int y = 0; y < in_.height; y += rows_) run(y, std::min(rows_, in_.height - y));
  }

 private:
  static constexpr int kMinRows = 16;

  Word *row(int plane, int y) {
    return planes_ + plane * plane_words_ + y * std::ptrdiff_t{pitch_};
  }

  void run(int first, int n) {
    const int rows = n + 2 * plan_.ry;
    cpu_.for_bands(rows, kMinRows, [&](int begin, int end) {
      for (int y = begin; y < end; ++y) pack(first + y - plan_.ry, y);
    });
    int plane = 2;
    for (const patterns::Doubling &d : plan_.doublings) {
      cpu_.for_bands(rows, kMinRows, [&](int begin, int end) {
        for (int y = begin; y < end; ++y)
          word_loops().and_shifted(row(d.from, y), row(d.from, std::min(y + d.y, rows - 1)), d.x,
                                   columns_, row(plane, y));
      });
      ++plane;
    }
    cpu_.for_bands(n, kMinRows, [&](int begin, int end) {
      for (int y = begin; y < end; ++y) match(first, y);
    });
  }

  /// Packs row `source` of the image and its margins into row y of planes 0 and 1.
  void pack(int source, int y) {
    const int inside = resolve(source, in_.height, job_.border);
    const int planes = 1 + plan_.asks_for_black;
    if (inside < 0) {
      for (int plane = 0; plane < planes; ++plane)
        std::fill_n(row(plane, y), columns_, Word{0} - patterns::outside_of(job_, plane));
      return;
    }
    Word *const white = row(patterns::Plan::kWhite, y), *const black =
                                                            row(patterns::Plan::kBlack, y);
    const int width = in_.width, left = margin_ * kBits;
    std::fill_n(white, columns_, 0);
    pixel_loops<T>().pack(in_.row(inside), width, levels_of<T>(job_), white + margin_);
    if (plan_.asks_for_black) word_loops().complement(white, columns_, black);
    const auto surround = [&](int x) {
      const int from = resolve(x, width, job_.border);
      for (int plane = 0; plane < planes; ++plane) {
        Word *const words = row(plane, y);
        put(words, left + x,
            from < 0 ? patterns::outside_of(job_, plane)
                     : words[(left + from) >> 6] >> ((left + from) & 63) & 1);
      }
    };
    for (int x = 1; x <= plan_.rx; ++x) {
      surround(-x);
      surround(width - 1 + x);
    }
  }

  /// Finds the masks in row y of the slab and writes the row of the result.
  void match(int first, int y) {
    const int words = words_of(in_.width);
    Word *const result = results_ + std::size_t(2) * y * columns_, *const fit = result + words;
    std::fill_n(result, words, 0);
    bool begins = true;
    for (const patterns::Probe &p : plan_.probes) {
      if (begins) std::fill_n(fit, words, ~Word{0});
      word_loops().and_shifted(fit, row(p.plane, y + plan_.ry + p.y) + margin_, p.x, words, fit);
      begins = p.last;
      if (p.last) word_loops().unite(fit, words, result);
    }
    pixel_loops<Out>().unpack(result, in_.width, out_.maximum, out_.row(first + y));
  }

  Cpu &cpu_;
  Plane<const T> in_;
  Plane<Out> out_;
  const FilterJob &job_;
  patterns::Plan plan_;
  int margin_, columns_, pitch_;  // in words: of the margin, of a row, from row to row
  int rows_;                      // of a slab
  std::size_t plane_words_;
  Word *planes_, *results_;
};

}  // namespace

template <typename T, typename Out>
void binary(Cpu &cpu, Plane<const T> in, Plane<Out> out, const FilterJob &job,
            SwoFilterReport *report) {
  if (job.op == SwoFilterOperator::hit_or_miss)
    HitOrMiss<T, Out>(cpu, in, out, job).run();
  else
    thin(cpu, in, out, job, report);
}
template void binary(Cpu &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const FilterJob &,
                     SwoFilterReport *);
template void binary(Cpu &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const FilterJob &,
                     SwoFilterReport *);
template void binary(Cpu &, Plane<const std::uint16_t>, Plane<std::uint8_t>, const FilterJob &,
                     SwoFilterReport *);

}  // namespace cudascan::swo
