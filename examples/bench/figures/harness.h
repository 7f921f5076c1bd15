// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Shared parts of the programs of gswo_figures.py: arguments, pictures, the comparison of results
/// and the report (one line of JSON). A program is one user filter in one form (sequential, OpenMP,
/// OpenACC, CUDA); the script writes the few lines that connect it with this header.
#pragma once
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <vector>

namespace figures {

/// Rows and columns around a picture that windows may read.
constexpr int kMargin = 16;

[[noreturn]] inline void fail(const std::string &message) {
  std::printf("{\"error\": \"%s\"}\n", message.c_str());
  std::exit(3);
}

struct Options {
  int width = 0, height = 0;
  double seconds = 1;        ///< approximate time for each measurement
  std::string picture;       ///< file of samples, with the margin
  std::string result;        ///< where to write the result; empty: nowhere
  std::string expect;        ///< file of an expected result; empty: none
  int expect_rows = 0;       ///< number of its rows that can be compared
  int reach = 0;             ///< rows below a pixel that affect it; the last rows are not compared
  std::vector<int> threads;  ///< numbers of threads to measure with
  bool whole = false;        ///< process all rows, however long it takes
  int images = 1;            ///< pictures to filter, one after the other
};

inline Options parse(int argc, char **argv) {
  Options o;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i], value = argv[i + 1];
    if (key == "--width") o.width = std::atoi(value.c_str());
    if (key == "--height") o.height = std::atoi(value.c_str());
    if (key == "--seconds") o.seconds = std::atof(value.c_str());
    if (key == "--picture") o.picture = value;
    if (key == "--result") o.result = value;
    if (key == "--expect") o.expect = value;
    if (key == "--expect-rows") o.expect_rows = std::atoi(value.c_str());
    if (key == "--reach") o.reach = std::atoi(value.c_str());
    if (key == "--threads") o.threads.push_back(std::atoi(value.c_str()));
    if (key == "--whole") o.whole = value == "yes";
    if (key == "--images") o.images = std::atoi(value.c_str());
  }
  if (o.width < 1 || o.height < 1 || o.images < 1) fail("--width and --height are required");
  return o;
}

inline double milliseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(now).count();
}

/// The images of a filter: the first is its input, the last its output, the others are temporary.
/// Each has a margin, unless the filter indexes `y * width + x`. There may be several inputs: the
/// levels of one picture, moved by a number for each.
template <class T>
class Images {
 public:
  Images(const Options &o, int count, bool flat)
      : width_(o.width),
        height_(o.height),
        margin_(flat ? 0 : kMargin),
        stride_(o.width + 2 * margin_) {
    // blocks_[0] is the first input; the other inputs follow the other images.
    for (int i = 0; i < count + o.images - 1; i++) {
      blocks_.emplace_back(static_cast<std::size_t>(stride_) * (height_ + 2 * margin_));
      tables_.push_back(rows_of(blocks_.back().data()));
    }
    count_ = count;
    load(o.picture);
    for (int k = 1; k < o.images; k++)
      std::transform(blocks_[0].begin(), blocks_[0].end(), blocks_[count + k - 1].begin(),
                     [&](T v) { return static_cast<T>((static_cast<int>(v) + 7 * k) % 256); });
  }

  /// Does the work for each input.
  template <class Work>
  void each(const Work &work) {
    input_ = 0;
    work();
    for (input_ = count_; input_ < static_cast<int>(blocks_.size()); input_++) work();
    input_ = static_cast<int>(blocks_.size()) > count_ ? input_ - 1 : 0;
  }

  int width() const { return width_; }
  int height() const { return height_; }
  int count() const { return count_; }
  std::size_t samples() const { return blocks_[0].size(); }
  T *flat(int image) { return blocks_[block_of(image)].data(); }
  T **rows(int image) { return tables_[block_of(image)].data() + margin_; }
  T *row(int image, int y) {
    return blocks_[block_of(image)].data() + static_cast<std::size_t>(y + margin_) * stride_ +
           margin_;
  }
  int margin() const { return margin_; }
  /// Addresses of all rows, margins included, of an image whose block begins at `block`.
  std::vector<T *> rows_of(T *block) const {
    std::vector<T *> rows;
    for (int y = 0; y < height_ + 2 * margin_; y++)
      rows.push_back(block + static_cast<std::size_t>(y) * stride_ + margin_);
    return rows;
  }

  /// Overwrites the output, so that an unwritten pixel cannot have the value of an earlier run.
  void spoil_output() {
    for (int y = 0; y < height_; y++) std::fill_n(row(count() - 1, y), width_, T(0x5a));
  }

  void save(const std::string &name) {
    std::FILE *file = std::fopen(name.c_str(), "wb");
    bool good = file;
    for (int y = 0; good && y < height_; y++)
      good = std::fwrite(row(count() - 1, y), sizeof(T), width_, file) ==
             static_cast<std::size_t>(width_);
    if (!file || std::fclose(file) || !good) fail("cannot write " + name);
  }

  /// Functions such as exp differ in the last bits, so pixels of type float may differ a little.
  static bool differ(T ours, T other) {
    if constexpr (std::is_same_v<T, float>)
      return !(std::abs(ours - other) <= 1e-3f * (1 + std::abs(other)));
    else
      return ours != other;
  }

  /// Number of pixels in the first rows of the output that differ from a saved output.
  long long different(const std::string &name, int rows) {
    std::FILE *file = std::fopen(name.c_str(), "rb");
    if (!file) fail("cannot read " + name);
    std::vector<T> line(width_);
    long long n = 0;
    for (int y = 0; y < rows; y++) {
      if (std::fread(line.data(), sizeof(T), width_, file) != line.size())
        fail(name + " is too short");
      const T *ours = row(count() - 1, y);
      for (int x = 0; x < width_; x++) n += differ(ours[x], line[x]);
    }
    std::fclose(file);
    return n;
  }

 private:
  int block_of(int image) const { return image == 0 ? input_ : image; }

  void load(const std::string &name) {
    std::FILE *file = std::fopen(name.c_str(), "rb");
    if (!file) fail("cannot read " + name);
    std::vector<unsigned short> line(width_ + 2 * kMargin);
    for (int y = -kMargin; y < height_ + kMargin; y++) {
      if (std::fread(line.data(), 2, line.size(), file) != line.size())
        fail(name + " is too short");
      if (y < -margin_ || y >= height_ + margin_) continue;
      for (int x = -margin_; x < width_ + margin_; x++)
        row(0, y)[x] = static_cast<T>(line[x + kMargin]);
    }
    std::fclose(file);
  }

  int width_, height_, margin_, stride_, count_ = 0, input_ = 0;
  std::vector<std::vector<T>> blocks_;
  std::vector<std::vector<T *>> tables_;
};

/// Repeats the run until the time is over: three to nine times, or fewer if one run takes longer.
/// @return milliseconds of each run
template <class Work>
std::vector<double> repeat(const Work &work, double seconds) {
  std::vector<double> runs;
  const double begin = milliseconds();
  double gone = 0;
  do {
    const double start = milliseconds();
    work();
    runs.push_back(milliseconds() - start);
    gone = (milliseconds() - begin) / 1e3;
  } while (runs.size() < 9 &&
           (gone < seconds || (runs.size() < 3 && gone / runs.size() < seconds)));
  return runs;
}

inline std::string list(const std::vector<double> &values) {
  std::string text;
  for (const double v : values) text += (text.empty() ? "" : ", ") + std::to_string(v);
  return "[" + text + "]";
}

/// How many pixels were compared, and how many differ.
struct Comparison {
  long long compared = 0, different = 0;
  std::string json() const {
    return "\"compared\": " + std::to_string(compared) +
           ", \"different\": " + std::to_string(different);
  }
};

/// Adds the comparison of the output, of which the first `rows` were computed.
template <class T>
void compare(const Options &o, Images<T> &images, int rows, Comparison &sum) {
  if (o.expect.empty()) return;
  const int good = std::max(0, std::min(o.expect_rows, rows < o.height ? rows - o.reach : rows));
  sum.compared += 1LL * good * o.width;
  sum.different += images.different(o.expect, good);
}

}  // namespace figures
