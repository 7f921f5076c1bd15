// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gswo/emit_kernel.h"

#include <algorithm>

#include "gswo/kernel_writer.h"

namespace cudascan::gswo {

using namespace clang;

namespace {

constexpr std::size_t kMostSharedBytes = 48 * 1024;

/// Width of a tile's row; it begins and ends at a multiple of a vector of at most 8, as in
/// gswo::Tile.
int tile_pitch(const Kernel &k, const Image &i) {
  // Structures of some sizes are read one by one, as in gswo::VolumeTile.
  if (i.is_volume && (i.size > 16 || (i.size & (i.size - 1)))) return k.tile_x + i.x1 - i.x0;
  return (k.tile_x + i.x1 - i.x0 + 14) / 8 * 8;
}
int tile_rows(const Kernel &k, const Image &i) {
  return k.tile_y + i.y1 - i.y0;
}

}  // namespace

KernelWriter::KernelWriter(const Unit &unit, const Kernel &kernel, const Chain *chain)
    : unit_(unit), k_(kernel), chain_(chain) {
  for (const Image &image : k_.images) {
    if (image.read) ins_.push_back(&image);
    if (image.written) outs_.push_back(&image);
  }
}

std::string KernelWriter::arguments(bool declared) const {
  std::string list;
  if (k_.is_volume()) list = (declared ? type_of(k_.slices()) + " " : "") + z() + ", ";
  list += (declared ? type_of(k_.rows()) + " " : "") + y() + ", " +
          (declared ? type_of(k_.columns()) + " " : "") + x();
  for (const Image *i : ins_)
    if (!i->in_register) list += ", " + (declared ? "const " + i->name + "_view &" : "") + i->name;
  for (const Image *i : outs_)
    list += ", " + (i->in_register
                        ? (declared ? i->type + " &" : "") + i->name + "_px"
                        : (declared ? "const " + i->output() + "_view &" : "") + i->output());
  for (const Scalar &s : k_.scalars)
    if (s.in_window) list += ", " + (declared ? s.type + " " : "") + s.name;
  for (const Table &t : k_.tables)
    list += ", " + (declared ? "const " + t.name + "_view &" : "") + t.name;
  for (const Reduction &r : k_.reductions)
    list += ", " +
            (!declared      ? ""
             : r.is_table() ? "const " + r.name + "_view &"
                            : r.type + " &") +
            r.name;
  return list;
}

void KernelWriter::window() {
  const auto range = unit_.extent(k_.body);
  if (!range)
    return unit_.error(k_.pragma->begin, "the window comes from a macro; write it out here");
  const unsigned line = unit_.source.line(range->begin);
  out_ << "// ---- " << k_.name << ": the window of " << k_.function->getNameAsString()
       << "(), line " << line << "\n";
  std::string views = k_.knows_inner ? "bool g_inner" : "";
  const auto add_view = [&](const std::string &name) {
    views += (views.empty() ? "class " : ", class ") + name + "_view";
  };
  for (const Image *i : ins_)
    if (!i->in_register) add_view(i->name);
  for (const Image *i : outs_)
    if (!i->in_register) add_view(i->output());
  for (const Table &t : k_.tables) add_view(t.name);
  for (const Reduction &r : k_.reductions)
    if (r.is_table()) add_view(r.name);
  if (!views.empty()) out_ << "template <" << views << ">\n";
  out_ << "GSWO_FN void " << k_.name << "_window(" << arguments(true) << ")\n{\n";
  for (const auto &[place, text] : k_.window_locals) out_ << text;
  Edits edits = k_.edits;
  for (const Pragma &p : unit_.notes.pragmas)
    if (p.begin >= range->begin && p.end <= range->end) {
      const std::string replaced = unit_.text(Range{p.begin, p.end});
      edits.insert({p.begin, p.end,
                    std::string("/* ") + p.title() + " */" +
                        std::string(std::count(replaced.begin(), replaced.end(), '\n'), '\n') +
                        " "});
      if (p.kind == PragmaKind::initialisation && p.braces)
        edits.insert({p.open, p.open + 1, " "}), edits.insert({p.close, p.close + 1, " "});
    }
  out_ << unit_.source.line_directive(line) << apply(unit_.source, *range, edits) << "\n"
       << kHere << "}\n";
}

std::string KernelWriter::index(const Loop &loop, const std::string &turn) const {
  const std::string first = "(" + unit_.text(loop.first) + ") + ";
  return loop.step == 1 ? first + turn : first + std::to_string(loop.step) + " * (" + turn + ")";
}

std::string KernelWriter::call(const std::string &indent, bool inner) const {
  std::string text;
  for (const Image *i : outs_)
    if (i->in_register)
      text += indent + i->type + " " + i->name + "_px" +
              (i->read ? " = " + pixel(*i, i->name) : "") + ";\n";
  text += indent + k_.name + "_window" +
          (!k_.knows_inner ? ""
           : inner         ? "<true>"
                           : "<false>") +
          "(" + arguments(false) + ");\n";
  for (const Image *i : outs_)
    if (i->in_register) text += indent + pixel(*i, i->output()) + " = " + i->name + "_px;\n";
  return text;
}

void KernelWriter::check() {
  std::string parameters = k_.is_volume() ? type_of(k_.slices()) + " " + z() + ", " : "";
  parameters += type_of(k_.rows()) + " " + y() + ", " + type_of(k_.columns()) + " " + x();
  for (const Image *i : ins_)
    parameters +=
        ", const " + i->type + (i->is_volume ? " *const *const *" : " *const *") + i->name;
  for (const Image *i : outs_)
    parameters += ", " + i->type + (i->is_volume ? " ***" : " **") + i->output();
  for (const Scalar &s : k_.scalars) parameters += ", " + s.type + " " + s.name;
  for (const Table &t : k_.tables) parameters += ", const " + t.type + " *" + t.name;
  for (const Reduction &r : k_.reductions)
    parameters += ", " + r.type + (r.is_table() ? " *" : " &") + r.name;
  out_ << "void " << k_.name << "_check(" << parameters << ")\n{\n" << call("  ", false) << "}\n";
}

std::string offset(int value) {
  return value ? (value < 0 ? " - " : " + ") + std::to_string(std::abs(value)) : "";
}

bool through_texture(const Image &image) {
  return image.texture && !image.record && image.size <= 4;
}

std::size_t table_bytes(const Reduction &r) {
  constexpr std::size_t kMost = 16 * 1024;
  const std::size_t bytes = static_cast<std::size_t>(r.known_length) * r.size;
  return r.is_table() && bytes <= kMost ? bytes : 0;
}

std::size_t tile_bytes(const Unit &unit, const Kernel &k, const Chain *chain) {
  if (!unit.options.tiles || !k.takes_neighbours()) return 0;
  std::size_t bytes = 0;
  for (const Image &i : k.images) {
    if (!i.read) continue;
    if (!i.known) return 0;
    if (i.texture && (chain || through_texture(i))) {
      if (chain) return 0;
      continue;
    }
    // Far offsets would not fit anyway.
    if (i.y1 - i.y0 > 1024 || i.x1 - i.x0 > 1024) return 0;
    if (i.z1 - i.z0 > 1024) return 0;
    const bool tiled = !i.centred && i.is_volume == k.is_volume();
    if (tiled) bytes += i.size * (k.tile_z + i.z1 - i.z0) * tile_rows(k, i) * tile_pitch(k, i);
  }
  // gswo::Rest also needs a count and a number for each thread.
  const std::size_t threads = static_cast<std::size_t>(k.tile_x / k.chunk_x) *
                              (k.tile_y / k.chunk_y) * (k.tile_z / k.chunk_z);
  std::size_t others = 16 + 2 * threads;
  for (const Reduction &r : k.reductions) others += r.is_table() ? table_bytes(r) : 8 * threads;
  return bytes + others > kMostSharedBytes ? 0 : bytes;
}

std::string kernel_text(const Unit &unit, const Kernel &kernel, const Chain *chain) {
  KernelWriter window(unit, kernel, chain);
  window.window();
  if (chain && kernel.needs_program()) {
    window.check();
    return window.text();
  }
  const std::string cuda = cuda_text(unit, kernel, chain);
  if (!chain) return window.text() + cuda;
  return window.text() + "#if GSWO_CUDA\n" + cuda + "#else\n" + cpu_text(unit, kernel, chain) +
         "#endif\n";
}

}  // namespace cudascan::gswo
