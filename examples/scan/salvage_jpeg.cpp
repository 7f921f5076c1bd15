// SPDX-License-Identifier: LGPL-2.1-or-later
#include "salvage_jpeg.h"

#include <cstddef>
#include <cstdio>
// libjpeg needs the two above.
#include <jerror.h>
#include <jpeglib.h>

#include <algorithm>

#include "common/error.h"
#include "levels.h"
#include "luma.h"

namespace cudascan::scan {
namespace {

/// A decoder that reads an input and notes what it says.
class Decoder {
 public:
  explicit Decoder(const Input &input) : input_(input), bytes_(kPart) {
    info_.err = jpeg_std_error(&errors_);
    errors_.error_exit = [](j_common_ptr info) {
      of(info).note(info, true);
      throw Error("libjpeg gives up");
    };
    errors_.emit_message = [](j_common_ptr info, int level) {
      if (level < 0) of(info).note(info, info->err->msg_code != JWRN_EXTRANEOUS_DATA);
    };
    info_.client_data = this;
    jpeg_create_decompress(&info_);
    source_.init_source = [](j_decompress_ptr) {};
    source_.term_source = [](j_decompress_ptr) {};
    source_.fill_input_buffer = [](j_decompress_ptr info) { return of(info).fill(); };
    source_.skip_input_data = [](j_decompress_ptr info, long count) { of(info).skip(count); };
    source_.resync_to_restart = jpeg_resync_to_restart;
    info_.src = &source_;
  }
  ~Decoder() { jpeg_destroy_decompress(&info_); }
  Decoder(const Decoder &) = delete;
  Decoder &operator=(const Decoder &) = delete;

  void decode(Image &image) {
    try {
      jpeg_read_header(&info_, TRUE);
      if (info_.num_components != 1 && info_.num_components != 3) return;
      info_.out_color_space = info_.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
      image.shape(static_cast<int>(info_.image_width), static_cast<int>(info_.image_height), 8);
      result.decoded = true;
      several_scans_ = jpeg_has_multiple_scans(&info_);
      jpeg_start_decompress(&info_);
      read_rows(image);
      jpeg_finish_decompress(&info_);
    } catch (const Error &) {
      // It is noted.
    }
    if (result.decoded) whiten_rows(image, row_, image.height);
    if (!result.damaged) result.rows = row_;
  }

  JpegDecoded result;

 private:
  static constexpr std::size_t kPart = 65536;

  template <typename Info>
  static Decoder &of(Info *info) {
    return *static_cast<Decoder *>(info->client_data);
  }

  void read_rows(Image &image) {
    if (info_.num_components == 1)
      read_gray(image.plane<std::uint8_t>());
    else
      read_colour(image);
    if (several_scans_ && row_ == image.height) result.rows = row_;
  }

  /// Decodes into the page.
  void read_gray(const Plane<std::uint8_t> &to) {
    while (row_ < to.height) {
      constexpr int kMost = 16;
      JSAMPROW rows[kMost];
      const int count = std::min(kMost, to.height - row_);
      for (int i = 0; i < count; ++i) rows[i] = to.row(row_ + i);
      const auto got = jpeg_read_scanlines(&info_, rows, static_cast<JDIMENSION>(count));
      if (got == 0) return;
      row_ += static_cast<int>(got);
    }
  }

  void read_colour(Image &image) {
    const auto to = image.plane<std::uint8_t>();
    std::vector<JSAMPLE> samples(std::size_t{1} * image.width * info_.num_components);
    JSAMPROW row = samples.data();
    for (; row_ < image.height; ++row_) {
      if (jpeg_read_scanlines(&info_, &row, 1) != 1) return;
      luma_row(samples.data(), info_.num_components, image.width, to.row(row_));
      keep_colour(image, samples.data(), info_.num_components, 0, row_, image.width);
    }
  }

  void note(j_common_ptr info, bool damage) {
    char text[JMSG_LENGTH_MAX];
    info->err->format_message(info, text);
    auto &messages = result.messages;
    if (std::find(messages.begin(), messages.end(), text) == messages.end())
      messages.insert(damage && !result.damaged ? messages.begin() : messages.end(), text);
    // The rows that are out come from data before the damage.
    if (damage && !result.damaged) result.rows = row_;
    result.damaged = result.damaged || damage;
  }

  boolean fill() {
    const std::size_t got = input_.read(at_, bytes_.data(), kPart);
    at_ += got;
    source_.next_input_byte = bytes_.data();
    source_.bytes_in_buffer = got;
    if (got > 0) return TRUE;
    // As libjpeg's own sources do: the rest of the image is gray.
    info_.err->msg_code = JWRN_JPEG_EOF;
    note(reinterpret_cast<j_common_ptr>(&info_), true);
    bytes_[0] = 0xff;
    bytes_[1] = JPEG_EOI;
    source_.bytes_in_buffer = 2;
    return TRUE;
  }

  void skip(long count) {
    const long here = std::min(count, static_cast<long>(source_.bytes_in_buffer));
    if (count <= 0) return;
    source_.next_input_byte += here;
    source_.bytes_in_buffer -= static_cast<std::size_t>(here);
    at_ += static_cast<std::uint64_t>(count - here);
  }

  const Input &input_;
  std::vector<JOCTET> bytes_;
  std::uint64_t at_ = 0;
  int row_ = 0;
  bool several_scans_ = false;
  jpeg_error_mgr errors_{};
  jpeg_source_mgr source_{};
  jpeg_decompress_struct info_{};
};

}  // namespace

JpegDecoded salvage_jpeg(const Input &input, Image &image) {
  Decoder decoder(input);
  decoder.decode(image);
  return decoder.result;
}

}  // namespace cudascan::scan
