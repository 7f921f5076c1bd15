// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>

#include "gswo/kernel_writer.h"

namespace cudascan::gswo {

using namespace clang;

namespace {

class CudaWriter : public GpuWriter {
 public:
  CudaWriter(const Unit &unit, const Kernel &kernel, const Chain *chain)
      : GpuWriter(unit, kernel, chain), tiled_(tile_bytes(unit, kernel, chain) > 0) {}

  void write() {
    begin();
    if (k_.takes_neighbours())
      chunks();
    else
      turns();
    end();
  }

 private:
  bool is_tiled(const Image &i) const { return tiled_ && !i.centred && !is_texture(i); }
  int block_x() const { return k_.tile_x / k_.chunk_x; }

  std::string place(const std::string &indent, const std::string &row,
                    const std::string &column) const {
    return indent + "const " + type_of(k_.rows()) + " " + y() + " = " + row + ";\n" + indent +
           "const " + type_of(k_.columns()) + " " + x() + " = " + column + ";\n";
  }
  /// How windows access images that are not in a tile.
  /// @param inner  for windows inside the images
  void views(const std::string &indent, bool inner) {
    for (const Image *i : ins_) {
      if (is_tiled(*i)) continue;
      const std::string view = is_texture(*i)      ? "Tex<" + i->type
                               : inner && i->known ? "Inner<" + types(*i, true)
                                                   : "In<" + types(*i, true);
      out_ << indent << "const gswo::" << view << "> " << i->name << "(" << i->name << "_plane);\n";
    }
    for (const Image *i : outs_)
      if (!inner || !in_strips(*i))
        out_ << indent << "const gswo::" << (inner ? "InnerOut<" : "Out<") << types(*i, false)
             << "> " << i->output() << "(" << i->output() << "_plane);\n";
  }

  /// Loops with steps other than one: each thread takes single iterations.
  void turns() {
    views("  ", false);
    out_ << "  GSWO_ROLL for (int g_cy = 0; g_cy < " << k_.chunk_y
         << "; g_cy++) {\n    GSWO_ROLL for (int g_cx = 0; g_cx < " << k_.chunk_x
         << "; g_cx++) {\n      const int g_row = blockIdx.y * " << k_.tile_y << " + threadIdx.y * "
         << k_.chunk_y << " + g_cy;\n      const int g_column = blockIdx.x * " << k_.tile_x
         << " + threadIdx.x + g_cx * " << block_x() << ";\n"
         << place("      ", index(k_.rows(), "g_row"), index(k_.columns(), "g_column"))
         << "      if (!(" << conditions() << ")) continue;\n"
         << call("      ", false) << "    }\n  }\n";
  }

  /// A thread computes neighbouring pixels: what their windows share is loaded and computed once.
  void chunks() {
    // Without a destination nothing has to be aligned.
    const Image *stored = outs_.empty() ? nullptr : outs_.front();
    const bool aligns = stored && (k_.chunk_x & (k_.chunk_x - 1)) == 0;
    out_ << "  // A block computes " << k_.tile_x << " x " << k_.tile_y << " pixels, a thread "
         << k_.chunk_x << " x " << k_.chunk_y << ".\n  const int g_first = (int)("
         << unit_.text(k_.columns().first) << ");\n  const int g_top = gswo::first_row((int)("
         << unit_.text(k_.rows().first) << "), " << k_.tile_y
         << "), g_left = gswo::first_column(g_first, "
         << (stored ? stored->output() + "_plane.ox" + offset(-stored->write_x) : "g_first") << ", "
         << k_.tile_x << ", " << (aligns ? k_.chunk_x : 1)
         << ");\n  const int g_row = g_top + (int)threadIdx.y * " << k_.chunk_y
         << ", g_column = g_left + (int)threadIdx.x * " << k_.chunk_x << ";\n";
    const bool alone = k_.chunk_x * k_.chunk_y == 1 && !has_inner_chunks();
    if (!alone) {
      fits();
      out_ << "  const bool g_whole = g_fits(g_top, g_left, " << k_.tile_y << ", " << k_.tile_x
           << ");\n  const bool g_inside = g_whole || g_fits(g_row, g_column, " << k_.chunk_y
           << ", " << k_.chunk_x << ");\n";
    }
    for (const Image *i : ins_)
      if (is_tiled(*i)) tile(*i);
    if (alone) {
      single_window();
      return;
    }
    out_ << "  __shared__ gswo::Rest<" << threads()
         << "> g_rest;\n  if (!g_whole) g_rest.collect(!g_inside);\n  if (g_inside) {\n";
    inner_chunk();
    out_ << "  }\n";
    rest();
  }

  void tile(const Image &i) {
    const std::string type = i.name + "_tile";
    out_ << "  // The tile with its halo: rows " << i.y0 << ".." << i.y1 << ", columns " << i.x0
         << ".." << i.x1 << " around each pixel.\n  using " << type << " = gswo::Tile<"
         << types(i, true) << ", " << k_.tile_x << ", " << k_.tile_y << ", " << i.x0 << ", " << i.x1
         << ", " << i.y0 << ", " << i.y1 << ", " << threads() << ">;\n  __shared__ " << type
         << "::Memory " << i.name << "_memory;\n  const " << type << " " << i.name << "(" << i.name
         << "_memory, " << i.name << "_plane, g_top, g_left);\n";
  }

  /// Whether the code distinguishes windows inside the images from those at the edges.
  bool has_inner_chunks() const {
    return !k_.edges.empty() || std::any_of(ins_.begin(), ins_.end(), [&](const Image *i) {
      return i->known && !i->centred && !is_tiled(*i) && !is_texture(*i);
    });
  }

  /// Defines g_fits(): whether all of some windows are iterations of the loops and need no border.
  void fits() {
    out_ << "  const auto g_fits = [&](int g_y, int g_x, int g_rows, int g_columns) {\n"
         << place("    ", "g_y + g_rows - 1", "g_x + g_columns - 1")
         << "    return g_x >= g_first && " << conditions();
    const auto holds = [&](const std::string &plane, int y0, int y1, int x0, int x1) {
      out_ << " &&\n      gswo::holds(" << plane << "_plane, g_y" << offset(y0) << ", g_x"
           << offset(x0) << ", g_rows" << offset(y1 - y0) << ", g_columns" << offset(x1 - x0)
           << ")";
    };
    for (const Image *i : ins_)
      if (i->known && !is_tiled(*i) && !is_texture(*i)) holds(i->name, i->y0, i->y1, i->x0, i->x1);
    for (const Image *i : outs_) holds(i->output(), i->write_y, i->write_y, i->write_x, i->write_x);
    for (const Edge &e : k_.edges)
      out_ << " &&\n      gswo::is_inside(" << (e.of_row ? "g_y" : "g_x") << offset(e.low) << ", "
           << (e.of_row ? "g_y + g_rows" : "g_x + g_columns") << offset(e.high - 1) << ", "
           << e.origin << ", (int)" << e.size << ")";
    out_ << ";\n  };\n";
  }

  void inner_chunk() {
    views("    ", true);
    std::string indent = "    ";
    const auto loop = [&](const char *variable, int size) {
      if (size == 1) return std::string();
      out_ << indent << "GSWO_UNROLL for (int " << variable << " = 0; " << variable << " < " << size
           << "; " << variable << "++) {\n";
      indent += "  ";
      return std::string(" + ") + variable;
    };
    const auto end = [&](int size) {
      if (size == 1) return;
      indent.resize(indent.size() - 2);
      out_ << indent << "}\n";
    };
    for (const Image *i : outs_)
      if (in_strips(*i))
        out_ << indent << "gswo::Strips<" << types(*i, false) << ", " << k_.chunk_x << "> "
             << i->output() << "_strips(" << i->output() << "_plane, g_row" << offset(i->write_y)
             << ", g_column" << offset(i->write_x) << ");\n";
    const std::string turn_y = loop("g_cy", k_.chunk_y), turn_x = loop("g_cx", k_.chunk_x);
    out_ << place(indent, "g_row" + turn_y, "g_column" + turn_x);
    for (const Image *i : outs_)
      if (in_strips(*i))
        out_ << indent << "const auto " << i->output() << " = " << i->output() << "_strips("
             << (turn_x.empty() ? "0" : "g_cx") << ");\n";
    assume_inside(indent);
    out_ << call(indent, true);
    end(k_.chunk_x);
    for (const Image *i : outs_)
      if (in_strips(*i)) out_ << indent << i->output() << "_strips.store();\n";
    end(k_.chunk_y);
  }

  std::string turns_of_loops() const { return "(" + x() + " >= g_first) && " + conditions(); }

  void single_window() {
    views("  ", false);
    out_ << place("  ", "g_row", "g_column") << "  if (" << turns_of_loops() << ") {\n"
         << call("    ", false) << "  }\n";
  }

  /// Windows at the edges take longer, so all threads of the block share them.
  void rest() {
    const bool goes_on = !k_.reductions.empty();
    out_ << (goes_on ? "  if (!g_whole) {\n" : "  if (g_whole) return;\n");
    const std::string windows = std::to_string(k_.chunk_x * k_.chunk_y),
                      columns = std::to_string(k_.chunk_x), block = std::to_string(block_x());
    out_ << "  GSWO_ROLL for (int g_k = g_rest.thread(); g_k < g_rest.count * " << windows
         << "; g_k += " << threads() << ") {\n    const int g_chunk = g_rest.chunks[g_k / "
         << windows << "], g_window = g_k % " << windows << ";\n";
    views("    ", false);
    out_ << place("    ",
                  "g_top + g_chunk / " + block + " * " + std::to_string(k_.chunk_y) +
                      " + g_window / " + columns,
                  "g_left + g_chunk % " + block + " * " + columns + " + g_window % " + columns)
         << "    if (!(" << turns_of_loops() << ")) continue;\n"
         << call("    ", false) << "  }\n"
         << (goes_on ? "  }\n" : "");
  }

  /// Whether results are kept until a row of the chunk is complete.
  static bool in_strips(const Image &i) { return i.always_written || i.in_register; }

  void assume_inside(const std::string &indent) {
    for (const Edge &e : k_.edges)
      if (e.is_used)
        out_ << indent << "gswo::assume_inside<" << e.low << ", " << e.high << ">((int)"
             << (e.of_row ? y() : x()) << ", " << e.origin << ", (int)" << e.size << ");\n";
  }

  const bool tiled_;
};

}  // namespace

std::string cuda_text(const Unit &unit, const Kernel &kernel, const Chain *chain) {
  if (kernel.is_volume()) return volume_text(unit, kernel);
  CudaWriter writer(unit, kernel, chain);
  writer.write();
  return writer.text();
}

}  // namespace cudascan::gswo
