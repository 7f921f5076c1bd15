// SPDX-License-Identifier: LGPL-2.1-or-later
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iomanip>
#include <iterator>
#include <map>
#include <sstream>

#include "common/error.h"
#include "open_file.h"
#include "progress.h"

namespace cudascan::scan {
namespace {

std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", c);
      result += code;
    } else {
      result += c;
    }
  }
  return result + '"';
}

void write_list(std::ostream &to, const char *name, const std::vector<std::string> &list) {
  to << ", \"" << name << "\": [";
  for (std::size_t i = 0; i < list.size(); ++i) to << (i > 0 ? ", " : "") << quoted(list[i]);
  to << ']';
}

/// As JSON: the number of a GPU, or "cpu".
std::string device_name(int device) {
  return device == kCpu ? quoted("cpu") : std::to_string(device);
}

/// How the pages were shared out; nothing for a run on the CPU.
void write_devices(std::ostream &to, const Totals &totals) {
  if (totals.devices.empty()) return;
  to << "  \"devices\": [";
  const char *separator = "";
  for (const auto &[number, device] : totals.devices) {
    to << separator << "{\"device\": " << device_name(number) << ", \"pages\": " << device.pages;
    if (number != kCpu) to << ", \"gpu_busy\": " << totals.busy(device);
    to << '}';
    separator = ", ";
  }
  to << "],\n";
}

/// Means of a page in milliseconds.
void write_breakdown(std::ostream &to, const Totals &totals) {
  const double pages = std::max(totals.pages, 1);
  to << "  \"cpu_seconds\": " << totals.cpu_seconds << ",\n  \"breakdown_ms\": {";
  for (int i = 0; i < static_cast<int>(std::size(Spent::kNames)); ++i)
    to << quoted(Spent::kNames[i]) << ": " << totals.spent.of(i) / pages << ", ";
  to << "\"gpu_busy\": " << totals.gpu_ms() << "},\n";
}

/// What decoded how many pages, if a GPU was asked to.
void write_decoders(std::ostream &to, const std::vector<PageRecord> &pages) {
  std::map<std::string, int> counts;
  for (const PageRecord &page : pages)
    if (page.problem.empty() && !page.found.decoder.empty()) ++counts[page.found.decoder];
  if (counts.empty()) return;
  to << "  \"decoders\": {";
  const char *separator = "";
  for (const auto &[name, count] : counts) {
    to << separator << quoted(name) << ": " << count;
    separator = ", ";
  }
  to << "},\n";
}

void write_reading(std::ostream &to, const Reading &reading) {
  if (!reading.damage.empty())
    to << ", \"salvaged\": true, \"rows\": " << reading.rows
       << ", \"rows_kept\": " << reading.rows_kept << ", \"damage\": " << quoted(reading.damage);
  if (!reading.warnings.empty()) write_list(to, "warnings", reading.warnings);
}

void write_split(std::ostream &to, const SplitNote &split) {
  const Gutter &gutter = split.gutter;
  if (split.part == Part::whole) {
    if (!gutter.why_not.empty()) to << "\"not_split\": " << quoted(gutter.why_not) << ", ";
    return;
  }
  to << "\"part\": \"" << name_of(split.part) << "\", \"gutter\": [" << gutter.top << ", "
     << gutter.bottom << "], \"gutter_by\": \"" << name_of(gutter.by) << "\", ";
}

void write_mode(std::ostream &to, const Findings &f) {
  if (f.mode.empty()) return;
  to << ", \"mode\": " << quoted(f.mode) << ", \"pictures\": " << f.pictures
     << ", \"colour\": " << f.colour << ", \"picture_boxes\": [";
  for (std::size_t i = 0; i < f.picture_boxes.size(); ++i) {
    const Box &box = f.picture_boxes[i];
    to << (i > 0 ? ", [" : "[") << box.left << ", " << box.top << ", " << box.right << ", "
       << box.bottom << ']';
  }
  to << ']';
}

void write_also(std::ostream &to, const std::vector<std::pair<std::string, std::string>> &also) {
  if (also.empty()) return;
  to << ", \"also\": [";
  for (std::size_t i = 0; i < also.size(); ++i)
    to << (i > 0 ? ", {" : "{") << "\"output\": " << quoted(also[i].first)
       << ", \"sha256\": " << quoted(also[i].second) << '}';
  to << ']';
}

void write_page(std::ostream &to, const PageRecord &page, const RunFacts &run) {
  const Findings &f = page.found;
  to << "    {\"input\": " << quoted(page.input) << ", ";
  if (!page.problem.empty()) {
    to << "\"problem\": " << quoted(page.problem) << "}";
    return;
  }
  write_split(to, page.split);
  if (run.find_blank) to << "\"blank\": " << (f.blank ? "true" : "false") << ", ";
  to << "\"output\": " << quoted(page.output) << ", \"resolution\": [" << f.resolution.x << ", "
     << f.resolution.y << "], \"resolution_from\": " << quoted(f.resolution_from)
     << ", \"enlarged\": " << f.enlarged << ", \"angle\": " << f.angle
     << ", \"confidence\": " << f.confidence << ", \"turned\": " << (f.turned ? "true" : "false");
  to << ", \"orientation\": " << f.orientation
     << ", \"orientation_confidence\": " << f.orientation_confidence;
  if (!f.not_upright.empty()) to << ", \"not_upright\": " << quoted(f.not_upright);
  if (!f.turned) to << ", \"not_turned\": " << quoted(f.not_turned);
  if (f.dewarped) to << ", \"dewarped\": true, \"bend\": " << f.bend;
  if (!f.not_dewarped.empty())
    to << ", \"dewarped\": false, \"not_dewarped\": " << quoted(f.not_dewarped);
  to << ", \"border\": " << f.border << ", \"crop\": [" << f.box.left << ", " << f.box.top << ", "
     << f.box.right << ", " << f.box.bottom << "]";
  write_mode(to, f);
  if (f.threshold >= 0) to << ", \"threshold\": " << f.threshold;
  to << ", \"read_ms\": " << f.read_ms << ", \"decode_ms\": " << page.reading.decode_ms
     << ", \"straighten_ms\": " << f.straighten_ms << ", \"clean_ms\": " << f.clean_ms
     << ", \"write_ms\": " << f.write_ms << ", \"encode_ms\": " << f.encode_ms;
  if (!f.decoder.empty()) to << ", \"decoder\": " << quoted(f.decoder);
  if (!f.not_on_gpu.empty()) to << ", \"not_on_gpu\": " << quoted(f.not_on_gpu);
  if (f.device != kNowhere) to << ", \"device\": " << device_name(f.device);
  if (run.find_text) to << ", \"text\": " << (page.has_text ? "true" : "false");
  if (page.text_ms > 0) to << ", \"text_ms\": " << page.text_ms;
  if (!page.text_problem.empty()) to << ", \"text_problem\": " << quoted(page.text_problem);
  write_reading(to, page.reading);
  if (!page.input_digest.empty()) to << ", \"input_sha256\": " << quoted(page.input_digest);
  if (!page.output_digest.empty()) to << ", \"output_sha256\": " << quoted(page.output_digest);
  write_also(to, page.also);
  if (!page.others.empty()) write_list(to, "made_with_other_settings", page.others);
  to << "}";
}

void write_ignored(std::ostream &to, const std::vector<Inputs::Ignored> &files) {
  to << "  \"ignored\": [";
  for (std::size_t i = 0; i < files.size(); ++i)
    to << (i > 0 ? ",\n" : "\n") << "    {\"path\": " << quoted(files[i].path)
       << ", \"why\": " << quoted(files[i].why) << '}';
  to << (files.empty() ? "]\n" : "\n  ]\n");
}

/// Opens a file (its old contents are lost), a pipe or a terminal, which /dev/stdout may be.
/// Refuses a link to a file: in a folder that others write to, it may have been planted.
OpenFile open_stats(const std::string &path) {
  OpenFile file(open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666));
  const bool is_link = !file && errno == ELOOP;
  if (is_link) file = OpenFile(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  struct stat facts {};
  if (!file || fstat(file.get(), &facts) != 0) throw Error(std::strerror(errno));
  if (S_ISREG(facts.st_mode) && is_link) throw Error("it is a symbolic link; name the file itself");
  if (S_ISREG(facts.st_mode) && ftruncate(file.get(), 0) != 0) throw Error(std::strerror(errno));
  return file;
}

}  // namespace

void write_stats(const std::string &path, const Totals &totals, const RunFacts &run,
                 const Progress &progress) {
  const std::vector<PageRecord> &pages = progress.records();
  std::ostringstream to;
  to << std::fixed << std::setprecision(3);
  const double seconds = std::max(totals.seconds, 1e-3);
  to << "{\n  \"version\": " << quoted(run.version) << ",\n  \"settings\": " << quoted(run.settings)
     << ",\n  \"backend\": " << quoted(run.backend) << ",\n  \"jobs\": " << run.jobs
     << ",\n  \"pages\": " << totals.pages << ",\n  \"failed\": " << totals.failed
     << ",\n  \"salvaged\": " << totals.salvaged << ",\n  \"blank\": " << totals.blank
     << ",\n  \"skipped\": " << totals.skipped
     << ",\n  \"interrupted\": " << (totals.interrupted ? "true" : "false")
     << ",\n  \"seconds\": " << totals.seconds
     << ",\n  \"pages_per_second\": " << totals.pages / seconds
     << ",\n  \"gpu_busy\": " << totals.busy() << ",\n";
  write_breakdown(to, totals);
  write_devices(to, totals);
  write_decoders(to, pages);
  to << "  \"page_list\": [\n";
  for (std::size_t i = 0; i < pages.size(); ++i) {
    write_page(to, pages[i], run);
    to << (i + 1 < pages.size() ? ",\n" : "\n");
  }
  to << "  ],\n";
  write_ignored(to, progress.ignored());
  to << "}\n";
  try {
    open_stats(path).write(to.str());
  } catch (const DiskError &error) {
    throw DiskError("--stats=" + path + ": the statistics cannot be written: " + error.what());
  } catch (const Error &error) {
    throw Error("--stats=" + path + ": the statistics cannot be written: " + error.what());
  }
}

}  // namespace cudascan::scan
