// SPDX-License-Identifier: LGPL-2.1-or-later
#include "read.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>

#include "bmp.h"
#include "clock.h"
#include "coded.h"
#include "common/error.h"
#include "levels.h"
#include "page_size.h"
#include "plain_jpeg.h"
#include "plain_jpeg2000.h"
#include "plain_tiff.h"
#include "pnm.h"

namespace cudascan::scan {
namespace {

std::shared_ptr<const std::string> standard_input() {
  OpenFile input(dup(STDIN_FILENO));
  if (!input) throw Error("standard input is closed");
  return std::make_shared<const std::string>(input.read());
}

std::atomic<std::uint64_t> documents = 0;

}  // namespace

Document::Document(const std::string &name) : id_(++documents), name_(name) {
  if (name == kStandardInput) {
    name_ = "standard input";
    bytes_ = standard_input();
  }
  Input input = open();
  header_ = read_header(input);
  size_ = input.size();
  modified_ns_ = input.modified_ns();
}

Input Document::open() const {
  return bytes_ ? Input(name_, bytes_) : Input(name_);
}

std::string Document::digest() {
  const std::lock_guard lock(mutex_);
  if (digest_.empty()) {
    Input input = open_again();
    Digest digest;
    digest_ = read_whole(input, &digest) ? digest.finish() : input.digest();
    input.check_unchanged();
  }
  return digest_;
}

Input Document::open_again() const {
  Input input = open();
  if (input.size() != size_ || input.modified_ns() != modified_ns_)
    throw Error(name_ + ": the file has changed since the run began");
  return input;
}

/// Reads a PNG or JPEG file into memory, unless this thread has read no other since.
/// @param digest  gets the bytes while they are in the cache, if it is there
/// @return false for other documents; then nothing is read
bool Document::read_whole(Input &input, Digest *digest) const {
  struct File {
    std::uint64_t document = 0;  ///< whose bytes are there; 0: nobody's
    Memory room;
  };
  thread_local File file;
  constexpr std::size_t kMost = std::size_t{256} << 20, kPart = 256 << 10;
  if (bytes_ || (header_.kind != Kind::png && header_.kind != Kind::jpeg) || size_ > kMost)
    return false;
  const auto size = static_cast<std::size_t>(size_);
  const bool is_there = std::exchange(file.document, 0) == id_;
  char *bytes = nullptr;
  try {
    bytes = static_cast<char *>(file.room.reserve(size));
  } catch (const std::bad_alloc &) {  // libvips needs less memory
    return false;
  }
  for (std::size_t at = 0; at < size;) {
    const std::size_t left = std::min(kPart, size - at);
    const std::size_t got = is_there ? left : input.read(at, bytes + at, left);
    if (got == 0) throw Error(name_ + ": the file has changed while it was read");
    if (digest != nullptr) digest->add({bytes + at, got});
    at += got;
  }
  input.check_unchanged();
  file.document = id_;
  input.use({bytes, size});
  return true;
}

/// Takes the file of a page that a GPU can decode, and what its header says.
/// @return why not, or ""
std::string Document::take_file(const Input &input, const HowToRead &how, Image &image) {
  const bool is_jpeg = header_.kind == Kind::jpeg;
  const bool is_other = header_.kind == Kind::jpeg2000 || header_.kind == Kind::tiff;
  if (!(is_jpeg && how.jpeg_for_gpu) && !(is_other && how.others_for_gpu))
    return std::string(name_of(header_.kind)) + " files are decoded on the CPU";
  if (header_.pages.size() > 1) return "several pages";
  const std::size_t size = static_cast<std::size_t>(input.size());
  if (!image.file || image.file.use_count() > 1)
    image.file = std::make_shared<Memory>(image.memory.is_pinned());
  auto *const bytes =
      static_cast<unsigned char *>(image.file->reserve(is_jpeg ? 2 * size + size / 4 : size));
  if (input.read(0, bytes, size) != size) return "cannot be read whole";
  {
    const std::lock_guard lock(mutex_);
    if (digest_.empty()) digest_ = digest_of({reinterpret_cast<const char *>(bytes), size});
  }
  CodedPage::Code code;
  std::string why =
      is_jpeg ? read_plain_jpeg(bytes, size, bytes + size, code.emplace<pages::JpegCode>())
      : header_.kind == Kind::tiff ? read_plain_tiff(bytes, size, code.emplace<CodecFacts>())
                                   : read_plain_jpeg2000(bytes, size, code.emplace<CodecFacts>());
  if (!why.empty()) return why;
  why = read_facts(input, header_, image);
  if (!why.empty()) return why;
  const HowToRead on_cpu{.dpi = how.dpi, .salvage = how.salvage, .find_content = false};
  image.coded = std::make_shared<CodedPage>(
      image.file, size, std::move(code),
      [this, on_cpu](Image &page) { return read_page(0, on_cpu, page); });
  return "";
}

Reading Document::read_page(int page, const HowToRead &how, Image &image) {
  Input input = open_again();
  const PageHeader &stated = header_.pages[page];
  check_size(name_, stated.width, stated.height);
  Reading reading;
  image.coded = nullptr;
  image.content = Content::unknown;
  std::string not_on_gpu;
  if (how.for_gpu()) {
    not_on_gpu = take_file(input, how, image);
    input.check_unchanged();
    if (image.coded) return reading;
  }
  read_whole(input, nullptr);
  image.resolution = {};
  if (image.colour) image.colour->samples = 0;
  if (image.colour) image.colour->profile.clear();
  int orientation = 1;
  const auto begin = Clock::now();
  if (header_.kind == Kind::pnm)
    read_pnm_page(input, stated, how.salvage, image, reading);
  else if (header_.kind == Kind::bmp)
    read_bmp_page(input, how.salvage, image, reading);
  else
    orientation = decode_page(input, header_, page, how, image, reading);
  input.check_unchanged();
  if (orientation != 1) {
    Image spare(image.memory.is_pinned());
    turn_upright(image, orientation, spare);
  }
  if (how.find_content) find_content(image);
  reading.decode_ms = ms_since(begin);
  reading.not_on_gpu = not_on_gpu;
  return reading;
}

}  // namespace cudascan::scan
