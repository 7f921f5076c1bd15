// SPDX-License-Identifier: LGPL-2.1-or-later
#include "progress.h"

#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <iterator>
#include <string_view>

namespace cudascan::scan {
namespace {

using Clock = std::chrono::steady_clock;

[[gnu::format(printf, 1, 2)]] std::string text(const char *format, ...) {
  char buffer[512];
  va_list values;
  va_start(values, format);
  std::vsnprintf(buffer, sizeof buffer, format, values);
  va_end(values);
  return buffer;
}

std::string duration(double seconds) {
  const long whole = std::lround(seconds);
  return whole >= 3600 ? text("%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60)
                       : text("%ld:%02ld", whole / 60, whole % 60);
}

/// What was found of a page's image, for people.
std::string details(const SplitNote &split) {
  const Gutter &gutter = split.gutter;
  if (split.part == Part::whole)
    return gutter.why_not.empty() ? "" : "  not split: " + gutter.why_not;
  return text("  split at %.0f to %.0f (%s)", gutter.top, gutter.bottom, name_of(gutter.by));
}

/// What was found on a page, for people.
std::string details(const PageRecord &page) {
  const Findings &f = page.found;
  std::string line =
      f.turned ? text("  turned by %.2f degrees (confidence %.2f)", -f.angle, f.confidence)
               : text("  not turned by %.2f degrees (confidence %.2f): ", -f.angle, f.confidence) +
                     f.not_turned;
  if (f.orientation != 0)
    line = text("  lay turned by %d degrees (confidence %.2f)", f.orientation,
                f.orientation_confidence) +
           line;
  else if (!f.not_upright.empty())
    line = "  orientation kept: " + f.not_upright + line;
  line = text("  %g dpi, ", std::round(f.resolution.x)) + f.resolution_from +
         (f.enlarged > 1 ? text("  enlarged %.2f times", f.enlarged) : "") + line;
  if (f.dewarped) line += text("  lines were bent by up to %.1f pixels", f.bend);
  if (!f.not_dewarped.empty()) line += "  not dewarped: " + f.not_dewarped;
  if (f.cropped)
    line += text("  cropped to %dx%d at %d,%d", f.box.right - f.box.left, f.box.bottom - f.box.top,
                 f.box.left, f.box.top);
  if (f.blank) line += "  blank";
  if (!f.mode.empty()) line += "  as " + f.mode;
  if (f.pictures > 0) line += text("  pictures %.1f %%", 100 * f.pictures);
  if (f.colour > 0) line += text("  colour %.2f %%", 100 * f.colour);
  if (f.border > 0) line += text("  border of %.1f %% whitened", 100 * f.border);
  if (f.threshold >= 0) line += text("  threshold %d", f.threshold);
  if (f.device >= 0) line += text("  on GPU %d", f.device);
  if (!f.decoder.empty()) line += "  decoded by " + f.decoder;
  if (!f.not_on_gpu.empty()) line += " (" + f.not_on_gpu + ")";
  return line +
         text("  ms: read %.1f, straighten %.1f, clean %.1f, write %.1f", f.read_ms,
              f.straighten_ms, f.clean_ms, f.write_ms) +
         (page.has_text ? text(", text %.0f", page.text_ms) : "");
}

void add(const PageRecord &page, Spent &spent) {
  const Findings &f = page.found;
  spent.read += f.read_ms - page.reading.decode_ms;
  spent.decode += page.reading.decode_ms;
  spent.measure += f.straighten_ms;
  spent.compute += f.clean_ms;
  spent.text += page.text_ms;
  spent.encode += f.encode_ms;
  spent.write += f.write_ms - f.encode_ms;
}

/// The means of a page, for people.
std::string breakdown(const Totals &totals) {
  std::string line = "ms of a core for a page:";
  const char *separator = " ";
  for (int i = 0; i < static_cast<int>(std::size(Spent::kNames)); ++i) {
    const double ms = totals.spent.of(i) / totals.pages;
    if (Spent::kNames[i] == std::string_view("text") && ms == 0) continue;
    line += text("%s%s %.1f", separator, Spent::kNames[i], ms);
    separator = ", ";
  }
  line += text("; CPU time %.1f", 1000 * totals.cpu_seconds / totals.pages);
  return totals.gpu_ms() > 0 ? line + text(", GPU busy %.1f", totals.gpu_ms()) : line;
}

}  // namespace

double cpu_seconds() {
  double seconds = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage use{};
    getrusage(who, &use);
    for (const timeval &time : {use.ru_utime, use.ru_stime})
      seconds += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  }
  return seconds;
}

std::string PageRecord::name() const {
  return split.part == Part::whole ? input : input + ", " + name_of(split.part) + " page";
}

Progress::Progress(Talk talk, int expected, bool keep, double cpu_seconds_before)
    : talk_(talk),
      expected_(expected),
      keep_(keep),
      terminal_(isatty(STDERR_FILENO) != 0),
      cpu_seconds_before_(cpu_seconds_before),
      begin_(Clock::now()) {}

double Progress::seconds() const {
  return std::chrono::duration<double>(Clock::now() - begin_).count();
}

void Progress::clear_bar() {
  if (bar_) std::fputs("\r\033[K", stderr);
  bar_ = false;
}

void Progress::draw_bar(bool force) {
  constexpr auto kBetween = std::chrono::milliseconds(100);
  if (talk_ == Talk::quiet || !terminal_) return;
  if (!force && Clock::now() - drawn_ < kBetween) return;
  drawn_ = Clock::now();
  const int ready = totals_.pages + totals_.failed;
  const double rate = ready / std::max(seconds(), 1e-3);
  std::string line;
  if (expected_ > 0) {
    winsize size{};
    const int columns =
        ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
    const std::string numbers =
        text(" %d of %d pages  %.1f/s  %s left", ready, expected_, rate,
             ready > 0 ? duration((expected_ - ready) / rate).c_str() : "?");
    const int width = std::clamp(columns - static_cast<int>(numbers.size()) - 3, 0, 60);
    const int full = static_cast<int>(std::int64_t{1} * width * ready / expected_);
    line.append(1, '[').append(full, '#').append(width - full, '.').append(1, ']').append(numbers);
  } else {
    line = text("%d pages  %.1f/s", ready, rate);
  }
  std::fprintf(stderr, "\r\033[K%s", line.c_str());
  bar_ = true;
}

void Progress::expect(int more) {
  const std::lock_guard lock(mutex_);
  if (expected_ > 0) expected_ += more;
}

void Progress::done(const PageRecord &page) {
  const std::lock_guard lock(mutex_);
  ++totals_.pages;
  add(page, totals_.spent);
  if (page.found.device != kNowhere) ++totals_.devices[page.found.device].pages;
  if (!page.reading.damage.empty()) ++totals_.salvaged;
  if (page.found.blank) ++totals_.blank;
  if (!page.text_problem.empty()) ++totals_.unread;
  report(page);
  if (keep_) records_.push_back(page);
  if (talk_ == Talk::verbose || (talk_ == Talk::normal && !terminal_)) {
    clear_bar();
    const std::string count = expected_ > 0
                                  ? text("%d/%d ", totals_.pages + totals_.failed, expected_)
                                  : text("%d ", totals_.pages + totals_.failed);
    const std::string found = talk_ == Talk::verbose ? details(page.split) + details(page) : "";
    std::fprintf(stderr, "%s%s -> %s%s\n", count.c_str(), page.name().c_str(),
                 page.output.empty() ? "blank, not written" : page.output.c_str(), found.c_str());
  }
  draw_bar(totals_.pages + totals_.failed == expected_);
}

void Progress::report(const PageRecord &page) {
  const Reading &reading = page.reading;
  if (reading.damage.empty() && reading.warnings.empty() && page.text_problem.empty()) return;
  clear_bar();
  if (!page.text_problem.empty())
    std::fprintf(stderr, "without text: %s: %s\n", page.input.c_str(), page.text_problem.c_str());
  if (!reading.damage.empty())
    std::fprintf(stderr, "salvaged: %s: %d of %d rows: %s\n", page.input.c_str(), reading.rows_kept,
                 reading.rows, reading.damage.c_str());
  for (const std::string &warning : reading.warnings)
    std::fprintf(stderr, "warning: %s: %s\n", page.input.c_str(), warning.c_str());
}

void Progress::failed(const PageRecord &page) {
  const std::lock_guard lock(mutex_);
  ++totals_.failed;
  if (keep_) records_.push_back(page);
  clear_bar();
  std::fprintf(stderr, "left out: %s\n", page.problem.c_str());
  draw_bar(true);
}

void Progress::skipped(int pages) {
  const std::lock_guard lock(mutex_);
  totals_.skipped += pages;
}

void Progress::ignored(const std::vector<Inputs::Ignored> &files) {
  const std::lock_guard lock(mutex_);
  ignored_ = files;
}

void Progress::say(const std::string &line) {
  const std::lock_guard lock(mutex_);
  clear_bar();
  std::fprintf(stderr, "%s\n", line.c_str());
}

void Progress::say_ignored() const {
  constexpr std::size_t kMost = 20;
  for (std::size_t i = 0; i < ignored_.size() && (i < kMost || talk_ == Talk::verbose); ++i)
    std::fprintf(stderr, "ignored: %s: %s\n", ignored_[i].path.c_str(), ignored_[i].why.c_str());
  if (ignored_.size() > kMost && talk_ != Talk::verbose)
    std::fprintf(stderr, "ignored: %zu others; --verbose, --dry-run and --stats name them\n",
                 ignored_.size() - kMost);
}

double Totals::busy() const {
  double sum = 0;
  int gpus = 0;
  for (const auto &[number, device] : devices) {
    if (number == kCpu) continue;
    sum += busy(device);
    ++gpus;
  }
  return sum / std::max(gpus, 1);
}

double Totals::gpu_ms() const {
  double sum = 0;
  for (const auto &[number, device] : devices) sum += 1000 * device.busy_seconds;
  return sum / std::max(pages, 1);
}

Totals Progress::finish(const std::map<int, double> &gpus, bool interrupted) {
  const std::lock_guard lock(mutex_);
  clear_bar();
  if (gpus.empty()) totals_.devices.clear();
  for (const auto &[gpu, seconds] : gpus) totals_.devices[gpu].busy_seconds = seconds;
  totals_.seconds = seconds();
  totals_.cpu_seconds = cpu_seconds() - cpu_seconds_before_;
  totals_.interrupted = interrupted;
  if (talk_ != Talk::quiet) {
    say_ignored();
    for (const auto &[number, device] : totals_.devices)
      if (talk_ == Talk::verbose)
        std::fprintf(stderr, "%s\n",
                     number == kCpu ? text("CPU: %d pages", device.pages).c_str()
                                    : text("GPU %d: %d pages, busy %.1f %%", number, device.pages,
                                           100 * totals_.busy(device))
                                          .c_str());
    if (talk_ == Talk::verbose && totals_.pages > 0)
      std::fprintf(stderr, "%s\n", breakdown(totals_).c_str());
    std::string line =
        text("%d page%s in %.1f s, %.2f pages/s", totals_.pages, totals_.pages == 1 ? "" : "s",
             totals_.seconds, totals_.pages / std::max(totals_.seconds, 1e-3));
    if (totals_.blank > 0) line += text(", %d of them blank", totals_.blank);
    if (totals_.skipped > 0) line += text(", %d done before", totals_.skipped);
    if (totals_.failed > 0) line += text(", %d left out", totals_.failed);
    if (totals_.unread > 0) line += text(", %d without their text", totals_.unread);
    if (totals_.salvaged > 0) line += text(", %d salvaged", totals_.salvaged);
    if (!ignored_.empty()) line += text(", %zu ignored", ignored_.size());
    if (!gpus.empty()) line += text(", GPU busy %.1f %%", 100 * totals_.busy());
    if (interrupted) line += ", interrupted";
    std::fprintf(stderr, "%s\n", line.c_str());
  }
  return totals_;
}

}  // namespace cudascan::scan
