// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/usercode/filter_unit.h"

#include <algorithm>
#include <iomanip>
#include <limits>
#include <sstream>

#include "kernels/base/refuse.h"
#include "kernels/usercode/divisions.h"
#include "kernels/usercode/headers.h"

namespace cudascan::gswo {
namespace {

constexpr const char *kNamespace = "gswo_user";

/// Headers of the C and C++ library that a text may include: their contents are always available.
constexpr const char *kStandardHeaders[] = {"algorithm", "cmath",  "cstddef",  "cstdint",
                                            "cstdlib",   "math.h", "stddef.h", "stdint.h",
                                            "stdlib.h",  "utility"};

Unit with_headers(const SourceText &main) {
  Unit unit{main, headers(), {}};
  for (const char *name : kStandardHeaders) unit.headers.push_back({name, ""});
  return unit;
}

const char *sample_type(int bytes) {
  return bytes == 1 ? "unsigned char" : "unsigned short";
}

void define_window(std::ostream &text, const Mask &window) {
  const char *separator = "";
  text << "#define GSWO_RUNS ";
  for (const MaskRun &run : window.runs()) {
    text << separator << '{' << +run.y << ", " << +run.first << ", " << +run.last << '}';
    separator = ", ";
  }
  text << "\n#define GSWO_CELLS " << window.count() << "\n#define GSWO_LEFT " << window.rx()
       << "\n#define GSWO_RIGHT " << window.rx() << "\n#define GSWO_ABOVE " << window.ry()
       << "\n#define GSWO_BELOW " << window.ry() << '\n';
}

void define_samples(std::ostream &text, const FilterTarget &target) {
  const char *type = sample_type(target.sample_bytes);
  text << "#define GSWO_SAMPLE " << type << "\n#define GSWO_RESULT " << type
       << "\n#define GSWO_MAXIMUM " << (target.maximum >> target.shift) << "\n#define GSWO_SHIFT "
       << target.shift << "\n#define GSWO_BORDER " << static_cast<int>(target.border)
       << "\n#define GSWO_OUTSIDE " << (target.outside >> target.shift) << '\n';
}

/// Users who compile the text themselves may set GSWO_PLANES to 0.
void define_planes(std::ostream &text, const WindowPlanes &planes) {
  if (!planes.kinds) return;
  text << "#ifndef GSWO_PLANES\n#define GSWO_PLANES " << planes.kinds << "\n#endif\n";
  if (planes.ranks.empty()) return;
  const char *separator = "";
  text << "#define GSWO_RANKS " << std::setprecision(std::numeric_limits<float>::max_digits10);
  for (const RankPlane &rank : planes.ranks) {
    text << separator << '{' << rank.is_percentile << ", " << rank.argument << '}';
    separator = ", ";
  }
  text << '\n';
}

void define_launch(std::ostream &text, const FilterLaunch &launch) {
  text << "#define GSWO_BLOCK_WIDTH " << launch.block_width() << "\n#define GSWO_BLOCK_HEIGHT "
       << launch.block_height() << "\n#define GSWO_CHUNK_WIDTH " << launch.chunk_width
       << "\n#define GSWO_CHUNK_HEIGHT " << launch.chunk_height << "\n#define GSWO_TILE "
       << (launch.reads == UserFilterReads::shared) << "\n#define GSWO_TEXTURE "
       << (launch.reads == UserFilterReads::texture) << "\n#define GSWO_SUMS " << launch.sums
       << '\n';
}

/// As a C++ string literal.
std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result + '"';
}

void declare_constants(std::ostream &text, const std::vector<UserFilterConstant> &constants) {
  for (const UserFilterConstant &constant : constants) {
    if (const auto *integer = std::get_if<std::int64_t>(&constant.value))
      text << "constexpr " << (*integer == static_cast<int>(*integer) ? "int " : "long long ")
           << constant.name << " = " << *integer << ";\n";
    else
      text << "GSWO_VARIABLE float " << constant.name << ";\n";
  }
}

}  // namespace

namespace {

constexpr int kMostThreads = 1024;
constexpr int kMostSharedBytes = 48 * 1024;

int divide_up(int x, int by) {
  return (x + by - 1) / by;
}

/// The largest divisor of `whole` up to `best`.
int divisor(int whole, int best) {
  int part = std::min(whole, best);
  while (whole % part != 0) --part;
  return part;
}

int tile_bytes(const Mask &window, const FilterLaunch &launch) {
  const auto up = [](int columns) { return divide_up(columns, 4) * 4; };  // rounded up to a vector
  return static_cast<int>(sizeof(float)) * (up(launch.tile_width) + 2 * up(window.rx())) *
         (launch.tile_height + window.height - 1);
}

}  // namespace

std::array<unsigned, 2> FilterLaunch::grid(int width, int height) const {
  // Blocks for pixels at the edges come first, see gswo/filter.h.
  constexpr long long kMostEdgeRows = 4096;
  const auto inner = [](int size, int edge, int chunk) {
    return std::max(0, (size - edge) / chunk * chunk - divide_up(edge, chunk) * chunk);
  };
  const long long edges = static_cast<long long>(width) * height -
                          static_cast<long long>(inner(width, edge_x, chunk_width)) *
                              inner(height, edge_y, chunk_height);
  const int columns = divide_up(width, tile_width);
  const long long threads = static_cast<long long>(columns) * block_width() * block_height();
  const long long edge_rows = std::min((edges + threads - 1) / threads, kMostEdgeRows);
  return {static_cast<unsigned>(columns),
          static_cast<unsigned>(edge_rows + divide_up(height, tile_height))};
}

FilterLaunch choose_launch(const Mask &window, WindowUse use, const UserFilterParams &p) {
  const int cells = use == WindowUse::none ? 1 : window.count();
  const bool sorts = use == WindowUse::sorts;
  // If a window is unrolled, or a rectangle is added up, the pixels of a thread share reads and
  // computations, see gswo/window.h and gswo/filter.h. Use as many pixels as fit into registers.
  const bool shares = cells <= 256 || (use == WindowUse::sums && window.rectangle);
  struct Chunk {
    int width, height, rows;
  };
  const Chunk best = !shares              ? Chunk{1, 1, 8}
                     : sorts && cells > 9 ? Chunk{1, 8, 32}
                     : cells > 9          ? Chunk{2, 8, 32}
                                          : Chunk{4, 4, 16};
  FilterLaunch launch{p.tile_width, p.tile_height, p.chunk_width, p.chunk_height,
                      p.reads,      window.rx(),   window.ry()};
  if (!launch.chunk_width)
    launch.chunk_width = launch.tile_width % 4 == 0   ? best.width
                         : launch.tile_width % 2 == 0 ? std::min(best.width, 2)
                                                      : 1;
  if (!launch.tile_width) launch.tile_width = 32 * launch.chunk_width;
  if (!launch.chunk_height)
    launch.chunk_height =
        launch.tile_height ? divisor(launch.tile_height, best.height) : best.height;
  if (!launch.tile_height)
    launch.tile_height =
        launch.chunk_height *
        std::clamp(best.rows / best.height, 1, std::max(1, kMostThreads / launch.block_width()));
  if (launch.tile_width % launch.chunk_width != 0)
    refuse("chunk-width = ", launch.chunk_width, ": tile-width must be a multiple of it, but is ",
           launch.tile_width, "; set one of them to 0 or to another value");
  if (launch.block_width() * launch.block_height() > kMostThreads)
    refuse("tile-width = ", launch.tile_width, ", tile-height = ", launch.tile_height,
           ", chunk-width = ", launch.chunk_width, ", chunk-height = ", launch.chunk_height,
           ": a block has at most ", kMostThreads,
           " threads, a chunk for each; make the tile smaller or the chunks larger");
  const bool fits = tile_bytes(window, launch) <= kMostSharedBytes;
  if (launch.reads == UserFilterReads::shared && !fits)
    refuse("reads = shared: a tile of ", launch.tile_width, " x ", launch.tile_height,
           " pixels and the window around it need ", tile_bytes(window, launch),
           " bytes of shared memory, but there are only ", kMostSharedBytes,
           "; make tile-width and tile-height smaller, or set reads to auto");
  if (launch.reads == UserFilterReads::automatic)
    // Neighbouring threads share few reads for 3x3; the L1 cache is as good.
    launch.reads =
        fits && (sorts ? cells > 1 : cells > 9) ? UserFilterReads::shared : UserFilterReads::global;
  return launch;
}

Unit make_filter_unit(const FilterText &filter, const FilterTarget &target,
                      const WindowPlanes &planes, const FilterLaunch *launch) {
  std::ostringstream text;
  define_samples(text, target);
  define_window(text, target.mask);
  define_planes(text, planes);
  if (launch) define_launch(text, *launch);
  text << "#define GSWO_FILTER " << filter.function << "\n#include \"gswo/window.h\"\n\nnamespace "
       << kNamespace << " {\nGSWO_USE_LIBRARY\n";
  declare_constants(text, filter.constants);
  // As real numbers, x / width means what it says, and x / 0 is harmless.
  if (filter.is_expression)
    text << "GSWO_FN auto " << filter.function
         << "(const auto &p) {\n"
            "  [[maybe_unused]] const float x = p.x, y = p.y, width = p.width, height = p.height, "
            "maximum = p.maximum;\n  return (\n";
  text << "#line 1 " << quoted(filter.source.name) << '\n'
       << with_defined_divisions(filter.source.text) << '\n';
  if (filter.is_expression) text << "  );\n}\n";
  text << "#line 1 \"gswo/filter.h\"\n}  // namespace " << kNamespace
       << "\n#include \"gswo/filter.h\"\n";

  return with_headers({filter.source.name, text.str()});
}

namespace {

/// Names that a text includes from the system library.
std::vector<std::string> library_headers(const std::string &text) {
  std::vector<std::string> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto hash = line.find_first_not_of(" \t");
    if (hash == line.npos || line[hash] != '#') continue;
    const auto include = line.find("include", hash), open = line.find('<', hash),
               close = line.find('>', hash);
    if (include != line.npos && include < open && open < close && close != line.npos)
      names.push_back(line.substr(open + 1, close - open - 1));
  }
  return names;
}

}  // namespace

Unit make_chain_unit(const SourceText &translated, const FilterTarget &target,
                     UserFilterReads reads) {
  using Border = WindowBorder;
  const int border = target.border == Border::reflect    ? 2
                     : target.border == Border::constant ? 4
                                                         : 0;
  const unsigned highest = target.sample_bytes == 1 ? 0xff : 0xffff,
                 maximum = target.maximum >> target.shift;
  std::ostringstream text;
  if (maximum == highest)
    text << "#define GSWO_SRC_T " << sample_type(target.sample_bytes) << '\n';
  else
    text << "#define GSWO_SRC_T gswo::Level\n#define GSWO_LEVEL_T "
         << sample_type(target.sample_bytes) << "\n#define GSWO_MAXIMUM " << maximum
         << "\n#define GSWO_SHIFT " << target.shift << '\n';
  text << "#define GSWO_BORDER " << border << "\n#define GSWO_BORDER_VALUE "
       << (target.outside >> target.shift) << "\n#define GSWO_TEXTURE "
       << (reads == UserFilterReads::texture)
       << "\n#include \"gswo/library.h\"\n#include \"gswo/division.h\"\n#include "
          "\"gswo_rt.h\"\nnamespace std {\n"
          "GSWO_USE_LIBRARY\n}\n#pragma GCC visibility push(default)\nnamespace "
       << kNamespace << " {\nGSWO_USE_LIBRARY\n#line 1 " << quoted(translated.name) << '\n'
       << with_defined_divisions(translated.text) << "\n}\n";
  Unit unit = with_headers({translated.name, text.str()});
  for (const char *name : {"gswo_cpu.h", "gswo_rt.h", "gswo_sort.h"})
    unit.headers.push_back({name, std::string("#include \"gswo/") + name + "\"\n"});
  // The remaining text needs nothing from them, or does not compile.
  for (const std::string &name : library_headers(translated.text))
    if (std::none_of(unit.headers.begin(), unit.headers.end(),
                     [&](const SourceText &header) { return header.name == name; }))
      unit.headers.push_back({name, ""});
  return unit;
}

std::vector<std::string> real_constant_symbols(const std::vector<UserFilterConstant> &constants) {
  std::vector<std::string> symbols;
  for (const UserFilterConstant &constant : constants)
    if (std::holds_alternative<double>(constant.value))
      // The Itanium C++ ABI's mangled name of a variable in a namespace.
      symbols.push_back("_ZN" + std::to_string(std::string(kNamespace).size()) + kNamespace +
                        std::to_string(constant.name.size()) + constant.name + "E");
  return symbols;
}

}  // namespace cudascan::gswo
