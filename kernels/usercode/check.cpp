// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/usercode/check.h"

#include <algorithm>

#include "kernels/base/refuse.h"
#include "kernels/usercode/formula.h"

namespace cudascan::gswo {
namespace {

bool is_name(const std::string &text) {
  const auto is_letter = [](char c) {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || c == '_';
  };
  return !text.empty() && text.size() <= 64 && is_letter(text[0]) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_letter(c) || ('0' <= c && c <= '9'); });
}

void check_launch(const UserFilterParams &p) {
  const auto check = [](const char *name, int value, int most) {
    if (value < 0 || value > most)
      refuse(name, " = ", value, ": must be from 1 to ", most, ", or 0 for the best known");
  };
  check("tile-width", p.tile_width, 1024);
  check("tile-height", p.tile_height, 1024);
  check("chunk-height", p.chunk_height, 64);
  if (p.chunk_width != 0 && p.chunk_width != 1 && p.chunk_width != 2 && p.chunk_width != 4)
    refuse("chunk-width = ", p.chunk_width, ": must be 1, 2 or 4, or 0 for the best known");
  if (p.chunk_height && p.tile_height % p.chunk_height != 0)
    refuse("chunk-height = ", p.chunk_height, ": tile-height must be a multiple of it, but is ",
           p.tile_height, "; set one of them to 0 or to another value");
}

}  // namespace

void check_filter(const UserFilterParams &p) {
  if (p.expression.empty() == p.source.empty())
    refuse(p.expression.empty()
               ? "operator = custom: expression and source are empty; set one of them"
               : "expression and source are both set; set one of them to \"\"");
  check_formula(p.expression);
  if (!is_name(p.function))
    refuse("function = ", p.function, ": must be the name of a function in the file of source");
  for (const UserFilterConstant &constant : p.constants)
    if (!is_name(constant.name))
      refuse("params: \"", constant.name,
             "\" is not a valid name for a constant; use letters, digits and underscores");
  if (!p.emit_cuda.empty() && p.emit_cuda == p.source)
    refuse("emit-cuda = ", p.emit_cuda, ": this is the file of source; give another path");
  check_launch(p);
}

}  // namespace cudascan::gswo
