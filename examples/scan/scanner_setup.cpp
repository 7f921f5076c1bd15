// SPDX-License-Identifier: LGPL-2.1-or-later
#include "scanner_setup.h"

#include <sane/saneopts.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "common/error.h"

namespace cudascan::scan {
namespace {

constexpr char kSource[] = SANE_NAME_SCAN_SOURCE, kMode[] = SANE_NAME_SCAN_MODE;
/// Devices whose glass ends this much earlier than the paper still count as large enough, as A4
/// glasses are often 1 mm short.
constexpr double kShortMm = 2;
/// A resolution that differs more than by this factor is no substitute.
constexpr double kMostApart = 2;
/// Where devices without a source for both sides have a choice or a switch for it.
constexpr std::array kBothSides = {"adf-mode", "duplex", "scan-both-sides"};

std::string lower(std::string text) {
  for (char &c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

bool contains(const std::string &text, const char *part) {
  return lower(text).find(part) != std::string::npos;
}

bool is_duplex(const std::string &source) {
  return contains(source, "duplex");
}

std::string list_of(const std::vector<std::string> &words) {
  std::string list;
  for (const std::string &word : words) list += (list.empty() ? "" : ", ") + word;
  return list.empty() ? "none" : list;
}

/// The first that is right, or "".
template <typename Right>
std::string first(const std::vector<std::string> &words, Right right) {
  const auto found = std::find_if(words.begin(), words.end(), right);
  return found == words.end() ? "" : *found;
}

/// Sets an option that was named with --scan-option, --source and so on.
/// @param what  how it was named, for messages
void set(const SaneOptions &options, const std::string &device, const std::string &what,
         const std::string &name, const std::string &value) {
  if (!options.has(name))
    throw Error(what + ": " + device + " has no such option; `scanimage -A` lists them");
  try {
    options.set(name, value);
  } catch (const Error &error) {
    throw Error(what + ": " + device + " refuses it: " + error.what());
  }
}

/// The source that was meant: "adf" is the feeder by any name.
std::string source_named(const SaneOptions &options, const std::string &name) {
  const auto sources = options.choices(kSource);
  if (std::find(sources.begin(), sources.end(), name) != sources.end()) return name;
  std::string found = first(sources, [&](const std::string &s) { return lower(s) == lower(name); });
  if (found.empty() && lower(name) == "adf")
    found = first(sources, [](const std::string &s) { return is_feeder(s) && !is_duplex(s); });
  return found.empty() ? name : found;
}

/// The source for both sides, or "". Feeders of cards come last.
std::string duplex_source(const SaneOptions &options) {
  const auto sources = options.choices(kSource);
  const std::string found = first(sources, [](const std::string &s) {
    return is_duplex(s) && (contains(s, "adf") || contains(s, "feeder"));
  });
  return found.empty() ? first(sources, is_duplex) : found;
}

/// The option for both sides and its value, or "".
std::pair<std::string, std::string> duplex_option(const SaneOptions &options) {
  for (const char *name : kBothSides) {
    if (options.is_switch(name)) return {name, "yes"};
    const std::string value = first(options.choices(name), is_duplex);
    if (!value.empty()) return {name, value};
  }
  return {};
}

void set_source(const SaneOptions &options, const std::string &device,
                const ScannerSettings &settings) {
  if (!settings.source.empty())
    set(options, device, "--source=" + settings.source, kSource,
        source_named(options, settings.source));
  const std::string now = options.text(kSource);
  if (!settings.duplex || is_duplex(now)) return;
  const auto sources = options.choices(kSource);
  std::vector<std::string> feeders;
  std::copy_if(sources.begin(), sources.end(), std::back_inserter(feeders), is_feeder);
  if (!settings.source.empty() && !is_feeder(now))
    throw Error("--duplex: source " + now + " of " + device +
                " scans one side; leave out --source, or name one of: " + list_of(feeders));
  std::string source = duplex_source(options);
  const bool has_source = !source.empty();
  if (!has_source && !is_feeder(now)) source = feeders.empty() ? "" : feeders[0];
  if (!source.empty()) set(options, device, "--duplex", kSource, source);
  if (has_source) return;
  const auto [name, value] = duplex_option(options);
  if (name.empty())
    throw Error("--duplex: " + device +
                " has no source and no option for both sides; its sources: " + list_of(sources) +
                "; scan the fronts and the backs one after the other");
  set(options, device, "--duplex", name, value);
}

/// Gray where the device has it, otherwise what it scans by default: colour becomes gray later.
void set_mode(const SaneOptions &options, const std::string &device) {
  const auto modes = options.choices(kMode);
  std::string gray =
      first(modes, [](const std::string &m) { return m == SANE_VALUE_SCAN_MODE_GRAY; });
  if (gray.empty())
    gray = first(modes, [](const std::string &m) {
      return (contains(m, "gray") || contains(m, "grey")) && !contains(m, "diffusion") &&
             !contains(m, "halftone");
    });
  if (!gray.empty()) set(options, device, std::string("mode=") + gray, kMode, gray);
}

void set_resolution(const SaneOptions &options, const std::string &device, double wanted) {
  std::vector<std::string> names = {SANE_NAME_SCAN_RESOLUTION};
  if (!options.has(names[0])) names = {SANE_NAME_SCAN_X_RESOLUTION, SANE_NAME_SCAN_Y_RESOLUTION};
  for (const std::string &name : names) {
    if (!options.has(name)) continue;
    const std::string what = "--resolution=" + text_of(wanted);
    double value = wanted;
    if (const auto allowed = options.allowed(name)) {
      value = allowed->nearest(wanted);
      if (value > wanted * kMostApart || value * kMostApart < wanted)
        throw Error(what + ": " + device + " scans with " + allowed->text() + " dpi; name one");
    }
    set(options, device, what, name, text_of(value));
  }
}

/// The lengths that an option allows, in mm.
std::optional<Allowed> lengths(const SaneOptions &options, const char *name, double dpi) {
  auto allowed = options.allowed(name);
  if (!allowed || !options.is_in_pixels(name)) return allowed;
  if (dpi <= 0) return std::nullopt;
  return Allowed{allowed->least * kMmPerInch / dpi, allowed->most * kMmPerInch / dpi, {}};
}

void set_length(const SaneOptions &options, const std::string &device, const std::string &what,
                const char *name, double mm, double dpi) {
  const double value = options.is_in_pixels(name) ? std::round(mm * dpi / kMmPerInch) : mm;
  set(options, device, what, name, text_of(value));
}

/// The options for one side of the paper.
struct Side {
  const char *page, *begin, *end;
};
constexpr Side kAcross{SANE_NAME_PAGE_WIDTH, SANE_NAME_SCAN_TL_X, SANE_NAME_SCAN_BR_X},
    kDown{SANE_NAME_PAGE_HEIGHT, SANE_NAME_SCAN_TL_Y, SANE_NAME_SCAN_BR_Y};

/// The longest side that can be scanned, in mm, or 0 if it is not known. Where there is a size of
/// the page, the area is a part of it.
double longest(const SaneOptions &options, const Side &side, double dpi) {
  if (const auto page = lengths(options, side.page, dpi)) return page->most;
  const auto begin = lengths(options, side.begin, dpi), end = lengths(options, side.end, dpi);
  return end ? end->most - (begin ? begin->least : 0) : 0;
}

/// "216 x 297 mm", rounded down, or "" if it is not known.
std::string largest_paper(const SaneOptions &options) {
  const Resolution dpi = resolution_of(options);
  const double width = longest(options, kAcross, dpi.x), height = longest(options, kDown, dpi.y);
  if (width <= 0 || height <= 0) return "";
  return text_of(std::floor(width)) + " x " + text_of(std::floor(height)) + " mm";
}

void set_side(const SaneOptions &options, const std::string &device, const std::string &what,
              const Side &side, double mm, double dpi) {
  if (options.has(side.page)) set_length(options, device, what, side.page, mm, dpi);
  const auto begin = lengths(options, side.begin, dpi);
  const double from = begin ? begin->least : 0;
  if (options.has(side.begin)) set_length(options, device, what, side.begin, from, dpi);
  const auto end = lengths(options, side.end, dpi);
  set_length(options, device, what, side.end, end ? std::min(from + mm, end->most) : from + mm,
             dpi);
}

void set_paper(const SaneOptions &options, const std::string &device,
               const ScannerSettings &settings) {
  if (settings.paper.width <= 0) return;
  const std::string what = "--paper=" + settings.paper_name;
  const Resolution dpi = resolution_of(options);
  for (const Side &side : {kAcross, kDown})
    if (!options.has(side.end) || (options.is_in_pixels(side.end) && dpi.x <= 0))
      throw Error(what + ": " + device + " has no option for the size of what it scans");
  const double width = longest(options, kAcross, dpi.x), height = longest(options, kDown, dpi.y);
  if ((width > 0 && settings.paper.width > width + kShortMm) ||
      (height > 0 && settings.paper.height > height + kShortMm)) {
    const std::string source = options.text(kSource);
    throw Error(what + ": " + device + " scans at most " + largest_paper(options) +
                (source.empty() ? "" : " from " + source) + ", and this is " +
                text_of(settings.paper.width) + " x " + text_of(settings.paper.height) +
                " mm; name a smaller --paper or another --source");
  }
  set_side(options, device, what, kAcross, std::min(settings.paper.width, width > 0 ? width : 1e9),
           dpi.x);
  set_side(options, device, what, kDown, std::min(settings.paper.height, height > 0 ? height : 1e9),
           dpi.y);
}

bool differ(double actual, double wanted) {
  return actual > 0 && std::fabs(actual - wanted) > 0.005 * wanted;
}

}  // namespace

bool is_feeder(const std::string &source) {
  return contains(source, "adf") || contains(source, "feeder") || is_duplex(source);
}

Resolution resolution_of(const SaneOptions &options) {
  const double both = options.number(SANE_NAME_SCAN_RESOLUTION),
               x = options.number(SANE_NAME_SCAN_X_RESOLUTION),
               y = options.number(SANE_NAME_SCAN_Y_RESOLUTION);
  return {x > 0 ? x : both, y > 0 ? y : both};
}

std::vector<std::string> set_up(const SaneOptions &options, const std::string &device,
                                const ScannerSettings &settings) {
  set_source(options, device, settings);
  set_mode(options, device);
  set_resolution(options, device, settings.resolution);
  set_paper(options, device, settings);
  bool resolution_named = false;
  for (const auto &[name, value] : settings.options) {
    set(options, device, "--scan-option=" + name + "=" + value, name, value);
    resolution_named |= contains(name, "resolution");
  }
  std::vector<std::string> notes;
  const Resolution now = resolution_of(options);
  const std::string wanted = text_of(settings.resolution) + " dpi";
  if (now.x <= 0)
    notes.push_back(device + " does not say its resolution; the pages state " + wanted);
  else if (!resolution_named &&
           (differ(now.x, settings.resolution) || differ(now.y, settings.resolution)))
    notes.push_back(device + " scans with " + text_of(now.x) +
                    (now.y == now.x ? "" : " x " + text_of(now.y)) + " instead of " + wanted +
                    ", and the pages state that");
  return notes;
}

std::vector<std::string> describe(const SaneOptions &options) {
  std::vector<std::string> lines;
  const std::string now = options.text(kSource);
  auto sources = options.choices(kSource);
  if (sources.empty()) sources = {now};
  bool both = !duplex_source(options).empty();
  for (const std::string &source : sources) {
    std::string line = source.empty() ? "paper" : "source " + source;
    if (!now.empty() && source == now) line += " (used unless --source names another)";
    try {
      if (!source.empty()) options.set(kSource, source);
    } catch (const Error &error) {
      lines.push_back(line + ": " + error.what());
      continue;
    }
    const std::string paper = largest_paper(options);
    const char *const name = options.has(SANE_NAME_SCAN_RESOLUTION) ? SANE_NAME_SCAN_RESOLUTION
                                                                    : SANE_NAME_SCAN_X_RESOLUTION;
    const auto dpi = options.allowed(name);
    lines.push_back(line + ": " + (paper.empty() ? "paper of any size" : "up to " + paper) + ", " +
                    (dpi ? dpi->text() + " dpi" : "any resolution"));
    both |= !duplex_option(options).first.empty();
  }
  lines.push_back(std::string("both sides (--duplex): ") + (both ? "yes" : "no"));
  const auto modes = options.choices(kMode);
  if (!modes.empty()) lines.push_back("modes (--scan-option=mode=NAME): " + list_of(modes));
  return lines;
}

}  // namespace cudascan::scan
