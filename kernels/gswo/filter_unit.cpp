// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/gswo/filter_unit.h"

#include <sstream>

#include "kernels/gswo/headers.h"

namespace cudascan::gswo {
namespace {

constexpr const char *kNamespace = "gswo_user";

/// Headers of the C and C++ library that a text may include: what they declare is there anyway.
constexpr const char *kStandardHeaders[] = {"algorithm", "cmath",  "cstddef",  "cstdint",
                                            "cstdlib",   "math.h", "stddef.h", "stdint.h",
                                            "stdlib.h",  "utility"};

void define_window(std::ostream &text, const swo::Mask &window) {
  const char *separator = "";
  text << "#define GSWO_RUNS ";
  for (const swo::Run &run : window.runs()) {
    text << separator << '{' << +run.y << ", " << +run.first << ", " << +run.last << '}';
    separator = ", ";
  }
  text << "\n#define GSWO_CELLS " << window.count() << "\n#define GSWO_LEFT " << window.rx()
       << "\n#define GSWO_RIGHT " << window.rx() << "\n#define GSWO_ABOVE " << window.ry()
       << "\n#define GSWO_BELOW " << window.ry() << '\n';
}

void define_samples(std::ostream &text, const swo::Job &job, int sample_bytes) {
  const char *type = sample_bytes == 1 ? "unsigned char" : "unsigned short";
  text << "#define GSWO_SAMPLE " << type << "\n#define GSWO_RESULT " << type
       << "\n#define GSWO_MAXIMUM " << (job.maximum >> job.shift) << "\n#define GSWO_SHIFT "
       << job.shift << "\n#define GSWO_BORDER " << static_cast<int>(job.border)
       << "\n#define GSWO_OUTSIDE " << (job.outside >> job.shift) << '\n';
}

void define_launch(std::ostream &text, const FilterLaunch &launch) {
  text << "#define GSWO_BLOCK_HEIGHT " << launch.block_height << "\n#define GSWO_CHUNK "
       << launch.chunk << "\n#define GSWO_TILE " << launch.tile << '\n';
}

/// As a string of C++ has it.
std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result + '"';
}

void declare_constants(std::ostream &text, const std::vector<SwoFilterConstant> &constants) {
  for (const SwoFilterConstant &constant : constants) {
    if (const auto *integer = std::get_if<std::int64_t>(&constant.value))
      text << "constexpr " << (*integer == static_cast<int>(*integer) ? "int " : "long long ")
           << constant.name << " = " << *integer << ";\n";
    else
      text << "GSWO_VARIABLE float " << constant.name << ";\n";
  }
}

}  // namespace

FilterLaunch choose_launch(const swo::Mask &window) {
  const int cells = window.count();
  // Pixels of a thread share what they read and compute where a window is straight code, see gswo/window.h.
  FilterLaunch launch = cells <= 256 ? FilterLaunch{.block_height = 4, .chunk = 4, .tile = true}
                                     : FilterLaunch{.block_height = 8, .chunk = 1, .tile = true};
  const int rows = launch.block_height * launch.chunk;
  const auto up = [](int columns) { return (columns + 3) / 4 * 4; };  // to a vector
  const auto tile_bytes = static_cast<int>(sizeof(float)) *
                          (FilterLaunch::block_width + 2 * up(window.rx())) *
                          (rows + window.height - 1);
  launch.tile = cells > 1 && tile_bytes <= 48 * 1024;
  return launch;
}

Unit make_filter_unit(const FilterText &filter, const swo::Job &job, int sample_bytes,
                      const FilterLaunch *launch) {
  std::ostringstream text;
  define_samples(text, job, sample_bytes);
  define_window(text, job.mask());
  if (launch) define_launch(text, *launch);
  text << "#define GSWO_FILTER " << filter.function << "\n#include \"gswo/window.h\"\n\nnamespace "
       << kNamespace << " {\nGSWO_USE_LIBRARY\n";
  declare_constants(text, filter.constants);
  // Of a real number, x / width is what it looks like, and x / 0 harms nobody.
  if (filter.is_expression)
    text << "GSWO_FN auto " << filter.function
         << "(const auto &p) {\n"
            "  [[maybe_unused]] const float x = p.x, y = p.y, width = p.width, height = p.height, "
            "maximum = p.maximum;\n  return (\n";
  text << "#line 1 " << quoted(filter.source.name) << '\n' << filter.source.text << '\n';
  if (filter.is_expression) text << "  );\n}\n";
  text << "#line 1 \"gswo/filter.h\"\n}  // namespace " << kNamespace
       << "\n#include \"gswo/filter.h\"\n";

  Unit unit{{filter.source.name, text.str()}, headers(), {}};
  for (const char *name : kStandardHeaders) unit.headers.push_back({name, ""});
  return unit;
}

std::vector<std::string> real_constant_symbols(const std::vector<SwoFilterConstant> &constants) {
  std::vector<std::string> symbols;
  for (const SwoFilterConstant &constant : constants)
    if (std::holds_alternative<double>(constant.value))
      // As the Itanium C++ ABI mangles a variable of a namespace.
      symbols.push_back("_ZN" + std::to_string(std::string(kNamespace).size()) + kNamespace +
                        std::to_string(constant.name.size()) + constant.name + "E");
  return symbols;
}

}  // namespace cudascan::gswo
