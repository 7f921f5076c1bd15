// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Times the elements in whole GStreamer pipelines, compared with the bare kernels and with other
/// elements. See --help.
#include <gst/gst.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "bench/pipelines/apart.h"
#include "bench/pipelines/memory_table.h"
#include "bench/pipelines/source.h"
#include "bench/pipelines/suite.h"

namespace {

using namespace cudascan;
using namespace cudascan::bench;

constexpr char kDescription[] =
    R"(Measures frames a second, latency (by GStreamer's latency tracer), CPU time and waits of
the host, for each element and for chains of two to five: as bare kernels, in pipelines in CUDA
memory, and in pipelines from and to system memory. "x floor" is the time of a frame divided by the
time of the kernels alone, or of the copies over PCIe if these take longer. Tables:

  pipelines   every chain in every size
  streams     several pipelines at once in 1080p
  gpus        the same on one, two and more GPUs; and a chain whose elements are on two GPUs: in
              halves, in turn, and following the memory of the first half
  live        frames at a fixed rate through a queue that drops those that come too fast
  camera      what elements add to the time from a camera of 60 frames a second to the sink, on the
              GPU, and on four cores of the CPU or as many as there are
  peers       GStreamer's opencv elements, if they are installed

Exit status: 0 measured, 1 something could not be measured, 2 bad options.

  cudascan-pipeline-bench --quick
  cudascan-pipeline-bench --tables pipelines --sizes 4k --filter cudanick --json rows.json
  cudascan-pipeline-bench --chain "cudaequalize ! cudanick window=31" --sizes 1920x1200
  cudascan-pipeline-bench --element cudanick --format NV12)";

std::vector<std::string> split(const std::string &list) {
  std::vector<std::string> words;
  for (std::size_t begin = 0;;) {
    const std::size_t end = list.find(',', begin);
    words.push_back(list.substr(begin, end == std::string::npos ? end : end - begin));
    if (end == std::string::npos) return words;
    begin = end + 1;
  }
}

int parse_number(const char *option, const std::string &text, int most) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > most)
    throw BadSetting(std::string(option) + " " + text + ": must be a number from 1 to " +
                     std::to_string(most));
  return value;
}

std::vector<int> parse_numbers(const char *option, const std::string &list, int most) {
  std::vector<int> values;
  for (const std::string &word : split(list)) values.push_back(parse_number(option, word, most));
  return values;
}

NamedSize parse_size(const std::string &word) {
  for (const NamedSize &size : known_sizes())
    if (size.name == word) return size;
  if (const auto x = word.find('x'); x != std::string::npos) {
    constexpr int kMost = 32768;
    return {word, parse_number("--sizes", word.substr(0, x), kMost),
            parse_number("--sizes", word.substr(x + 1), kMost)};
  }
  throw BadSetting("--sizes " + word +
                   ": must be 720p, 1080p, 4k, 8k, scan or a size such as 1920x1200");
}

struct Command {
  SuiteSettings suite;
  MemoryTable memory;
  bool one_element = false, apart = false;
  std::string json;
};

struct Words {
  gchar *tables = nullptr, *sizes = nullptr, *rates = nullptr, *streams = nullptr;
  gchar *backend = nullptr, *chain = nullptr, *filter = nullptr, *json = nullptr;
  gchar *element = nullptr, *format = nullptr;
  gdouble seconds = 0;
  gint width = 3840, height = 2160;
  gboolean quick = FALSE, map = FALSE, apart = FALSE;

  ~Words() {
    for (gchar *word :
         {tables, sizes, rates, streams, backend, chain, filter, json, element, format})
      g_free(word);
  }
};

void parse_words(int &argc, char **&argv, Words &w) {
  const GOptionEntry entries[] = {
      {"tables", 't', 0, G_OPTION_ARG_STRING, &w.tables,
       "Which tables, of pipelines,streams,gpus,live,camera,peers", "LIST"},
      {"sizes", 0, 0, G_OPTION_ARG_STRING, &w.sizes,
       "720p,1080p,4k,8k,scan (2736x3648), or sizes such as 1920x1200 (all five)", "LIST"},
      {"rates", 0, 0, G_OPTION_ARG_STRING, &w.rates,
       "Frames a second for live (30,60,120,240) and camera (60)", "LIST"},
      {"streams", 0, 0, G_OPTION_ARG_STRING, &w.streams, "Pipelines at once (1,4,16,64)", "LIST"},
      {"filter", 0, 0, G_OPTION_ARG_STRING, &w.filter,
       "Only chains and peers whose text contains this", "TEXT"},
      {"chain", 'c', 0, G_OPTION_ARG_STRING, &w.chain,
       "Measure this chain, in system memory, instead of the built-in ones", "FRAGMENT"},
      {"backend", 0, 0, G_OPTION_ARG_STRING, &w.backend, "auto, cuda or cpu (auto)", "BACKEND"},
      {"seconds", 's', 0, G_OPTION_ARG_DOUBLE, &w.seconds,
       "Time for each row (0.3, live three times that, camera ten times, --element 1.5)", "S"},
      {"quick", 'q', 0, G_OPTION_ARG_NONE, &w.quick, "Fewer chains, sizes and rates, less time",
       nullptr},
      {"json", 0, 0, G_OPTION_ARG_FILENAME, &w.json, "Write all rows", "FILE"},
      {"element", 'e', 0, G_OPTION_ARG_STRING, &w.element,
       "Only this element: every kind of memory, queues, the limit of PCIe", "FRAGMENT"},
      {"format", 'f', 0, G_OPTION_ARG_STRING, &w.format, "Video format of --element (GRAY8)",
       "FORMAT"},
      {"width", 0, 0, G_OPTION_ARG_INT, &w.width, "Width of --element (3840)", "PIXELS"},
      {"height", 0, 0, G_OPTION_ARG_INT, &w.height, "Height of --element (2160)", "PIXELS"},
      {"map", 'm', 0, G_OPTION_ARG_NONE, &w.map, "Map every result of --element for reading",
       nullptr},
      {kApart, 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &w.apart, nullptr, nullptr},
      {}};
  GOptionContext *context = g_option_context_new("- the elements in whole pipelines");
  g_option_context_set_description(context, kDescription);
  g_option_context_add_main_entries(context, entries, nullptr);
  g_option_context_add_group(context, gst_init_get_option_group());
  GError *error = nullptr;
  const bool parsed = g_option_context_parse(context, &argc, &argv, &error);
  g_option_context_free(context);
  if (!parsed) {
    const std::string text = error->message;
    g_error_free(error);
    throw BadSetting(text + "; --help lists the options");
  }
  if (argc > 1)
    throw BadSetting(std::string("unknown argument ") + argv[1] + "; --help lists the options");
}

Command parse(int &argc, char **&argv) {
  Words w;
  parse_words(argc, argv, w);
  Command command;
  SuiteSettings &suite = command.suite;
  suite.quick = w.quick;
  suite.tables =
      w.tables ? split(w.tables) : std::vector<std::string>(std::begin(kTables), std::end(kTables));
  for (const std::string &table : suite.tables)
    if (std::find(std::begin(kTables), std::end(kTables), table) == std::end(kTables))
      throw BadSetting("--tables " + table +
                       ": must be of pipelines,streams,gpus,live,camera,peers");
  for (const std::string &word : split(w.sizes   ? w.sizes
                                       : w.quick ? "720p,4k"
                                                 : "720p,1080p,4k,8k,scan"))
    suite.sizes.push_back(parse_size(word));
  suite.rates = parse_numbers("--rates",
                              w.rates   ? w.rates
                              : w.quick ? "30,120"
                                        : "30,60,120,240",
                              10000);
  suite.camera_rates = w.rates ? suite.rates : std::vector<int>{60};
  suite.streams = parse_numbers("--streams",
                                w.streams ? w.streams
                                : w.quick ? "1,4"
                                          : "1,4,16,64",
                                1000);
  if (w.backend) suite.backend = w.backend;
  if (suite.backend != "auto" && suite.backend != "cuda" && suite.backend != "cpu")
    throw BadSetting("--backend " + suite.backend + ": must be auto, cuda or cpu");
  if (w.chain) suite.chain = w.chain;
  if (w.filter) suite.filter = w.filter;
  if (w.json) command.json = w.json;
  const bool has_seconds = w.seconds != 0;
  if (has_seconds && !(w.seconds > 0 && w.seconds <= 3600))
    throw BadSetting("--seconds " + std::to_string(w.seconds) + ": must be above 0, up to 3600");
  suite.seconds = has_seconds ? w.seconds : w.quick ? 0.15 : 0.3;

  command.one_element = w.element != nullptr;
  command.apart = w.apart;
  if (!command.one_element) {
    if (w.format || w.map || w.width != 3840 || w.height != 2160)
      throw BadSetting(
          "--format, --width, --height and --map need --element; --sizes is for the tables");
    return command;
  }
  if (w.chain) throw BadSetting("use either --element or --chain");
  if (w.json) throw BadSetting("--json cannot be used with --element");
  MemoryTable &memory = command.memory;
  memory.element = w.element;
  if (w.format) memory.format = w.format;
  memory.backend = suite.backend;
  memory.width = w.width;
  memory.height = w.height;
  memory.map = w.map;
  memory.quick = w.quick;
  if (has_seconds) memory.seconds = w.seconds;
  return command;
}

}  // namespace

int main(int argc, char **argv) try {
  const Command command = parse(argc, argv);
  register_source();
  if (command.apart) {
    const MemoryTable &of = command.memory;
    Launch launch;
    launch.chain = of.element;
    launch.format = of.format;
    launch.width = of.width;
    launch.height = of.height;
    return answer_apart(launch, of.seconds);
  }
  std::size_t measured = 0, failed = 0;
  if (command.one_element) {
    measured = static_cast<std::size_t>(print_memory_table(command.memory));
  } else {
    // Checked before measuring, which takes minutes.
    if (!command.json.empty() && !std::ofstream(command.json, std::ios::app))
      throw BadSetting("--json " + command.json + ": cannot be written; is its folder there?");
    Machine machine = this_machine();
    g_autofree gchar *version = gst_version_string();
    machine.gstreamer = version;
    std::printf("%s; %s, %d cores; %s\n", machine.gpu.empty() ? "no GPU" : machine.gpu.c_str(),
                machine.cpu.c_str(), machine.cores, version);
    // After each part, so that its results are kept if a later part is interrupted.
    const auto rows = run_suite(command.suite, [&](const std::vector<PipelineRow> &so_far) {
      if (!command.json.empty()) write_json(command.json, machine, so_far);
    });
    failed = static_cast<std::size_t>(std::count_if(
        rows.begin(), rows.end(), [](const PipelineRow &row) { return !row.error.empty(); }));
    measured = rows.size() - failed;
    if (failed > 0) std::printf("\n%zu rows were not measured\n", failed);
  }
  if (measured == 0)
    std::printf(
        "Nothing was measured. To use the elements of a build folder, run this in its "
        "`meson devenv` or set GST_PLUGIN_PATH.\n");
  return measured == 0 || failed > 0;
} catch (const std::exception &error) {
  std::fprintf(stderr, "cudascan-pipeline-bench: %s\n", error.what());
  return 2;
}
