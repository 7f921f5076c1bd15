// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Times the operators of libcudascan on the GPU and on the CPU, compared with a copy of the same
/// plane and with other libraries if they are installed. See --help.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "bench/bench.h"

namespace {

using namespace cudascan;
using namespace cudascan::bench;

constexpr char kHelp[] = R"(usage: cudascan-bench [OPTION...]

  --filter TEXT      only cases and tables whose name contains TEXT, for instance "nick 75",
                     "16 bit" or "linearopen against length"
  --paper NUMBER     repeat one publication whole, 000 to 004: its tables and figures with the
                     published numbers, its algorithm on this machine, and ours; docs/papers.md
                     lists them. Entries of up to 60 seconds a run are measured
  --quick            fewer cases and measurements
  --full             also the serial algorithm on the largest images (minutes)
  --cpu-only, --cuda-only
  --no-tables        skip the tables: those of the publications ("nick tables, paper 000",
                     "paper 001 table 1", "paper 002 figure 9", "swofilter naive and fast,
                     paper 004" ...) and the sweeps ("nick against window", "linearopen against
                     angle" ...), and those of several GPUs ("paper 003 several GPUs", "links
                     between host and GPUs"). docs/benchmark.md lists them
  --tables-only      only the tables
  --content WHAT     page (text on uneven, noisy paper), random, constant, negative (white text on
                     black), natural (soft structures of all sizes), spiral; cases with a fixed
                     content keep it
  --patience S       leave out table entries that would take longer than S seconds a run on the CPU,
                     or a fifth of that on the GPU (2)
  --random SECONDS   only random settings, as many as fit into the time on each backend: all
                     operators, methods, shapes, borders and depths, sides up to the limits, on
                     natural content unless --content is given. Prints how many take at most
                     0.1, 0.5, 1, 4.2 and 16.7 ms on the GPU (3840x2160), 16.7, 100 and 500 ms on
                     the CPU (1920x1080, all cores), and the median and the worst setting of each
                     family with its budget for an H200. --filter selects by family, property or
                     size: "ellipse", "operator=median", "16 bit"
  --seed N           of the random settings (1); a seed gives the same ones on every machine
  --case N           only random case N of this seed, as the table of the worst names it
  --repeat N         measure each time N times and take the median
  --align N          stride of the planes: a multiple of N bytes (256)
  --verify           compare every CUDA result with the CPU's
  --csv FILE, --json FILE   write all rows; JSON with the machine, for cudascan-bench-report

Times of the GPU are per run inside a CUDA graph of many runs. "cold" rotates over so many buffers
that none is still in a cache when it is used again; "warm" uses one pair of buffers. "1 in graph"
and "events" are a single run with and without a graph, launch included. GB/s counts each sample
as read once and written once; histograms only read. "x copy" is the ratio to a device-to-device
copy of the plane, measured in the same run.
)";

constexpr int kPaperPatience = 60;  // seconds

int parse_positive(std::string_view option, std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1)
    throw BadSetting(std::string(option) + " " + std::string(text) +
                     ": must be a whole number, 1 or more");
  return value;
}

Content parse_content(const std::string &word) {
  for (const Content content : {Content::page, Content::random, Content::constant,
                                Content::negative, Content::natural, Content::spiral})
    if (word == name(content)) return content;
  throw BadSetting("--content " + word +
                   ": must be page, random, constant, negative, natural or spiral");
}

std::string parse_paper(const std::string &number) {
  for (const char *known : {"000", "001", "002", "003", "004"})
    if (number == known) return number;
  throw BadSetting("--paper " + number + ": must be 000, 001, 002, 003 or 004");
}

struct Command {
  Options options;
  bool operators = true, help = false;
  bool random = false, has_content = false;
};

Command parse(int argc, char **argv) {
  Command command;
  Options &o = command.options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 == argc) throw BadSetting(std::string(option) + " needs a value");
      return argv[++i];
    };
    if (option == "--filter") {
      o.filter = value();
    } else if (option == "--paper") {
      o.paper = parse_paper(value());
      command.operators = false;
    } else if (option == "--quick") {
      o.quick = true;
    } else if (option == "--full") {
      o.full = true;
    } else if (option == "--cpu-only") {
      o.cuda = false;
    } else if (option == "--cuda-only") {
      o.cpu = false;
    } else if (option == "--no-tables") {
      o.tables = false;
    } else if (option == "--tables-only") {
      command.operators = false;
    } else if (option == "--content") {
      o.content = parse_content(value());
      command.has_content = true;
    } else if (option == "--random") {
      o.random_s = parse_positive(option, value());
      command.random = true;
    } else if (option == "--seed") {
      o.seed = parse_positive(option, value());
    } else if (option == "--case") {
      o.only_case = parse_positive(option, value());
      command.random = true;
    } else if (option == "--repeat") {
      o.repeat = parse_positive(option, value());
    } else if (option == "--patience") {
      o.patience_s = parse_positive(option, value());
    } else if (option == "--align") {
      o.align = parse_positive(option, value());
      if (o.align % 4) throw BadSetting("--align: must be a multiple of 4, for samples of 32 bits");
    } else if (option == "--verify") {
      o.verify = true;
    } else if (option == "--csv") {
      o.csv = value();
    } else if (option == "--json") {
      o.json = value();
    } else if (option == "--help" || option == "-h") {
      command.help = true;
    } else {
      throw BadSetting("unknown option " + std::string(option) + "; --help lists them");
    }
  }
  if (command.random && o.verify)
    throw BadSetting(
        "--verify: random settings are not compared, as some depend on earlier frames");
  if (!o.paper.empty() && command.random)
    throw BadSetting("--paper " + o.paper + ": random settings are of no publication");
  if (!o.paper.empty() && o.patience_s == 0 && !o.quick && !o.full) o.patience_s = kPaperPatience;
  if (command.random && !command.has_content) o.content = Content::natural;
  return command;
}

}  // namespace

int main(int argc, char **argv) try {
  const Command command = parse(argc, argv);
  const Options &options = command.options;
  if (command.help) {
    std::fputs(kHelp, stdout);
    return 0;
  }
  Report report;
  bool with_cuda = options.cuda && Cuda::available();
  const auto write = [&] {
    if (!options.csv.empty()) report.write_csv(options.csv);
    if (!options.json.empty()) report.write_json(options.json, this_machine());
  };
  report.save_by(write);
  if (command.random) {
    random_settings(options, with_cuda, report);
  } else if (command.operators) {
    if (options.cuda) with_cuda = bench_cuda(options, report);
    if (options.cpu) bench_cpu(options, report);
  }
  if (options.tables && !command.random)
#define AND(function) function,
    for (PrintTable *const table : {PAPERS(AND) sweep_tables, TABLES(AND) link_tables})
      table(options, with_cuda, report);
  write();
  if (report.failures() > 0) std::printf("\n%d rows FAILED\n", report.failures());
  return report.failures() > 0;
} catch (const std::exception &error) {
  std::fprintf(stderr, "cudascan-bench: %s\n", error.what());
  return 2;
}
