// SPDX-License-Identifier: LGPL-2.1-or-later
#include "scanner.h"

#include <pthread.h>
#include <sane/sane.h>
#include <sane/saneopts.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "common/error.h"
#include "levels.h"
#include "luma.h"

/// Replaces the C library's function for the drivers that SANE loads. These read in threads with
/// asynchronous cancellation and cancel them when a page is complete. That may happen inside
/// free(), while it holds a lock that ending the thread needs. Here threads can only be cancelled
/// at cancellation points, where they wait.
/// @return 0, or EINVAL for a type that does not exist
extern "C" __attribute__((visibility("default"))) int pthread_setcanceltype(int type, int *old) {
  if (type != PTHREAD_CANCEL_DEFERRED && type != PTHREAD_CANCEL_ASYNCHRONOUS) return EINVAL;
  if (old != nullptr) *old = PTHREAD_CANCEL_DEFERRED;
  return 0;
}

namespace cudascan::scan {
namespace {

constexpr int kLongestSide = 32768;
constexpr int kReadBytes = 64 * 1024;

/// What a person can do about it, or "".
const char *remedy(SANE_Status status) {
  switch (status) {
    case SANE_STATUS_DEVICE_BUSY:
      return "; another program uses it, or it is warming up: try again";
    case SANE_STATUS_JAMMED:
      return "; take the paper out and scan the rest again";
    case SANE_STATUS_NO_DOCS:
      return "; put paper into the feeder, or name another --source";
    case SANE_STATUS_COVER_OPEN:
      return "; close it and scan the rest again";
    case SANE_STATUS_ACCESS_DENIED:
      return "; on many systems the members of the group scanner may use scanners";
    default:
      return "";
  }
}

void check(SANE_Status status, const std::string &what) {
  if (status != SANE_STATUS_GOOD)
    throw Error(what + ": " + sane_strstatus(status) + remedy(status));
}

/// Limits how long to wait for a device that answers but sends no data. A network device does that
/// forever when the other end is gone.
class Patience {
 public:
  explicit Patience(double seconds) : most_(seconds) {}
  /// @throws Error when no data has come for too long
  void check(bool came, const std::string &what) {
    if (came) {
      last_ = Clock::now();
      return;
    }
    if (Clock::now() - last_ > most_) throw Error(what + ": the scanner stopped sending data");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::chrono::duration<double> most_;
  Clock::time_point last_ = Clock::now();
};

/// Converts rows as a device sends them to gray.
template <typename T>
void gray_rows(const std::vector<SANE_Byte> &bytes, const SANE_Parameters &p, Image &page) {
  const auto to = page.plane<T>();
  const int samples = p.format == SANE_FRAME_RGB ? 3 : 1;
  for (int y = 0; y < page.height; ++y) {
    const T *row =
        reinterpret_cast<const T *>(bytes.data() + std::size_t{1} * y * p.bytes_per_line);
    luma_row(row, samples, page.width, to.row(y));
    keep_colour(page, row, samples, 0, y, page.width);
  }
}

void bilevel_rows(const std::vector<SANE_Byte> &bytes, const SANE_Parameters &p, Image &page) {
  const auto to = page.plane<std::uint8_t>();
  for (int y = 0; y < page.height; ++y) {
    const SANE_Byte *from = bytes.data() + std::size_t{1} * y * p.bytes_per_line;
    for (int x = 0; x < page.width; ++x)
      to.row(y)[x] = (from[x / 8] >> (7 - x % 8)) & 1 ? 0 : 255;  // 1 is black
  }
}

void check_parameters(const SANE_Parameters &p, const std::string &device) {
  const int samples = p.format == SANE_FRAME_RGB ? 3 : 1;
  const bool known_format = p.format == SANE_FRAME_GRAY || p.format == SANE_FRAME_RGB;
  const bool known_depth = p.depth == 8 || p.depth == 16 || (p.depth == 1 && samples == 1);
  if (!known_format || !known_depth)
    throw Error(device + ": sends frames of an unsupported kind (format " +
                std::to_string(p.format) + ", " + std::to_string(p.depth) +
                " bit); choose another with --scan-option=mode=Gray");
  const long long needed = (1LL * p.pixels_per_line * samples * p.depth + 7) / 8;
  if (p.pixels_per_line < 1 || p.pixels_per_line > kLongestSide || p.lines > kLongestSide ||
      p.bytes_per_line < needed)
    throw Error(device + ": sends " + std::to_string(p.pixels_per_line) + "x" +
                std::to_string(p.lines) + " pixels; each side must be 1 to 32768");
}

}  // namespace

Sane::Sane() {
  check(sane_init(nullptr, nullptr), "SANE cannot start");
}

Sane::~Sane() {
  sane_exit();
}

std::vector<std::pair<std::string, std::string>> Sane::devices() {
  const SANE_Device **list = nullptr;
  check(sane_get_devices(&list, SANE_FALSE), "SANE cannot look for scanners");
  std::vector<std::pair<std::string, std::string>> result;
  for (; *list != nullptr; ++list)
    result.emplace_back((*list)->name,
                        std::string((*list)->vendor) + " " + (*list)->model + " " + (*list)->type);
  return result;
}

std::vector<std::string> Sane::describe(const std::string &device) {
  SANE_Handle handle = nullptr;
  check(sane_open(device.c_str(), &handle), device + ": cannot be opened");
  const auto lines = scan::describe(SaneOptions(handle));
  sane_close(handle);
  return lines;
}

Scanner::Scanner(Sane &sane, const ScannerSettings &settings, std::function<bool()> go_on)
    : device_(settings.device), go_on_(std::move(go_on)), timeout_(settings.timeout) {
  if (device_.empty()) {
    const auto devices = sane.devices();
    if (devices.empty())
      throw Error(
          "no scanner was found; is it switched on and connected? `scanimage -L` lists what SANE "
          "finds; name others with --device");
    device_ = devices[0].first;
  }
  check(sane_open(device_.c_str(), &handle_), "--device=" + device_ + ": cannot be opened");
  const SaneOptions options(handle_);
  try {
    notes_ = set_up(options, device_, settings);
  } catch (...) {
    sane_close(handle_);
    throw;
  }
  resolution_ = resolution_of(options);
  backs_upside_down_ = settings.duplex && settings.backs_upside_down;
  const bool feeds = settings.duplex || is_feeder(options.text(SANE_NAME_SCAN_SOURCE));
  most_ = settings.pages >= 0 ? settings.pages : feeds ? 0 : 1;
}

Scanner::~Scanner() {
  sane_cancel(handle_);
  sane_close(handle_);
}

bool Scanner::next(Image &page) {
  if (!go_on_() || (most_ > 0 && pages_ == most_)) return false;
  const SANE_Status status = sane_start(handle_);
  if (status == SANE_STATUS_CANCELLED || !go_on_()) return false;
  if (status == SANE_STATUS_NO_DOCS && pages_ > 0) return false;
  check(status, device_ + ": page " + std::to_string(pages_ + 1));
  if (!read_frame(page)) return false;
  if (backs_upside_down_ && pages_ % 2 == 1) {
    Image spare(page.memory.is_pinned());
    turn_upright(page, 3, spare);  // 180 degrees, as in EXIF
  }
  ++pages_;
  return true;
}

bool Scanner::read_frame(Image &page) {
  SANE_Parameters p{};
  check(sane_get_parameters(handle_, &p),
        device_ + ": page " + std::to_string(pages_ + 1) + " is lost");
  check_parameters(p, device_);
  const std::size_t most = std::size_t{1} * p.bytes_per_line * kLongestSide;
  std::vector<SANE_Byte> bytes;
  Patience patience(timeout_);
  if (p.lines > 0) bytes.reserve(std::size_t{1} * p.bytes_per_line * p.lines + kReadBytes);
  for (;;) {
    const std::size_t end = bytes.size();
    SANE_Int got = 0;
    bytes.resize(end + kReadBytes);
    const SANE_Status status = sane_read(handle_, bytes.data() + end, kReadBytes, &got);
    bytes.resize(end + static_cast<std::size_t>(std::max(0, got)));
    if (status == SANE_STATUS_EOF) break;
    if (status == SANE_STATUS_CANCELLED || !go_on_()) return false;
    check(status, device_ + ": page " + std::to_string(pages_ + 1) + " is lost");
    patience.check(got > 0, device_ + ": page " + std::to_string(pages_ + 1) + " is lost");
    if (bytes.size() > most) throw Error(device_ + ": the page has more than 32768 lines");
  }
  // Only now does a hand scanner know how many lines there were.
  const int lines = static_cast<int>(bytes.size() / p.bytes_per_line);
  if (lines < 1 || (p.lines > 0 && lines < p.lines))
    throw Error(device_ + ": page " + std::to_string(pages_ + 1) + " ends after " +
                std::to_string(lines) + " lines of " + std::to_string(p.lines));
  page.shape(p.pixels_per_line, p.lines > 0 ? p.lines : lines, p.depth == 16 ? 16 : 8);
  if (p.depth == 1)
    bilevel_rows(bytes, p, page);
  else if (p.depth == 8)
    gray_rows<std::uint8_t>(bytes, p, page);
  else
    gray_rows<std::uint16_t>(bytes, p, page);
  page.resolution = resolution_;
  find_content(page);
  return true;
}

}  // namespace cudascan::scan
