// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/pipelines/memory_table.h"

#include <gst/video/video.h>

#include <cmath>
#include <cstdio>
#include <vector>

#include "bench/pipelines/link.h"
#include "bench/pipelines/measure.h"

namespace cudascan::bench {
namespace {

struct Variant {
  std::string name;
  std::string chain;
  const char *in = "", *out = "";  ///< caps feature of source and sink
  bool pageable = false;
  bool map = false;
  bool uploads = true, downloads = true;  ///< frames go over the link
  bool goal = false;
};

std::vector<Variant> make_variants(const std::string &element, bool quick) {
  const std::string two = element + " ! " + element;
  const std::string queued = element + " ! " + kQueue + " ! " + element;
  std::vector<Variant> variants{
      {.name = "system memory, pool of the element", .chain = element, .goal = true},
      {.name = "the same, result mapped", .chain = element, .map = true},
      {.name = "pageable source", .chain = element, .pageable = true},
      {.name = "a queue on both sides",
       .chain = std::string(kQueue) + " ! " + element + " ! " + kQueue},
      {.name = "upload only", .chain = element, .out = kCudaMemory, .downloads = false},
      {.name = "CUDA memory only",
       .chain = element,
       .in = kCudaMemory,
       .out = kCudaMemory,
       .uploads = false,
       .downloads = false},
      {.name = "download only", .chain = element, .in = kCudaMemory, .uploads = false},
      {.name = "two in a row", .chain = two},
      {.name = "two, a queue between", .chain = queued},
      {.name = "two in CUDA memory",
       .chain = two,
       .in = kCudaMemory,
       .out = kCudaMemory,
       .uploads = false,
       .downloads = false},
  };
  if (quick) variants.resize(3);
  return variants;
}

void print_variant(const MemoryTable &settings, const Variant &variant, const Link &link) {
  Launch launch;
  launch.chain = variant.chain;
  launch.format = settings.format;
  launch.width = settings.width;
  launch.height = settings.height;
  launch.in = variant.in;
  launch.out = variant.out;
  launch.backend = settings.backend;
  launch.map = variant.map || settings.map;
  launch.source.pageable = variant.pageable;
  const Throughput result = measure_throughput(launch, 1, settings.seconds);

  // The limit of the link: the slower direction alone, and both directions at once.
  const double alone =
      std::fmax(variant.uploads ? link.up : kUnknown, variant.downloads ? link.down : kUnknown);
  const double together = variant.uploads && variant.downloads ? link.both : alone;
  std::printf(" %9.1f %10.1f", 1e6 / result.us, result.us);
  for (const double limit : {alone, together})
    std::printf(" %9s", number(100 * limit / result.us, 0, "%").c_str());
  std::printf(" %9.1f %7s", result.cpu_us, number(result.syncs, 2).c_str());
  if (variant.goal && !std::isnan(alone))
    std::printf("  goal 80%% of one way: %s, CPU 60 us: %s",
                alone / result.us >= 0.8 ? "reached" : "MISSED",
                result.cpu_us < 60 ? "reached" : "MISSED");
  std::printf("\n    source: %s\n%s", result.memory.c_str(), result.stats.c_str());
}

}  // namespace

int print_memory_table(const MemoryTable &settings) {
  GstVideoInfo info;
  const GstVideoFormat format = gst_video_format_from_string(settings.format.c_str());
  if (format == GST_VIDEO_FORMAT_UNKNOWN)
    throw BadSetting("--format " + settings.format +
                     ": unknown video format; use GRAY8, for instance");
  if (!gst_video_info_set_format(&info, format, static_cast<guint>(settings.width),
                                 static_cast<guint>(settings.height)))
    throw BadSetting("--width " + std::to_string(settings.width) + " --height " +
                     std::to_string(settings.height) + ": width and height must be 1 to 32768");
  std::printf("%s %dx%d through %s\n", settings.format.c_str(), settings.width, settings.height,
              settings.element.c_str());
  const Link link = settings.backend == "cpu" ? Link{} : measure_link(GST_VIDEO_INFO_SIZE(&info));
  print(link, GST_VIDEO_INFO_SIZE(&info));
  std::printf("\n%-36s %9s %10s %9s %9s %9s %7s\n", "", "frames/s", "us/frame", "of 1 way",
              "of 2 ways", "CPU us", "syncs");
  int measured = 0;
  for (const Variant &variant : make_variants(settings.element, settings.quick)) {
    std::printf("%-36s", variant.name.c_str());
    std::fflush(stdout);
    try {
      print_variant(settings, variant, link);
      ++measured;
    } catch (const std::exception &error) {
      std::printf(" not measured: %s\n", error.what());
    }
  }
  drop_shared_contexts();
  return measured;
}

}  // namespace cudascan::bench
