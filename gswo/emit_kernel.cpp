// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gswo/emit_kernel.h"

#include <algorithm>
#include <sstream>

namespace cudascan::gswo {

using namespace clang;

namespace {

constexpr std::size_t kMostSharedBytes = 48 * 1024;

std::size_t size_of(const std::string &type) {
  if (type.find("char") != std::string::npos) return 1;
  if (type.find("short") != std::string::npos) return 2;
  return type == "double" || type.find("long") != std::string::npos ? 8 : 4;
}

/// Width of a tile's row; it begins and ends at a multiple of a vector of at most 8, as in
/// gswo::Tile.
int tile_pitch(const Kernel &k, const Image &i) {
  return (k.tile_x + i.x1 - i.x0 + 14) / 8 * 8;
}
int tile_rows(const Kernel &k, const Image &i) {
  return k.tile_y + i.y1 - i.y0;
}

class Writer {
 public:
  Writer(const Unit &unit, const Kernel &kernel, const Chain *chain)
      : unit_(unit), k_(kernel), chain_(chain), tiled_(tile_bytes(unit, kernel, chain) > 0) {
    for (const Image &image : k_.images) {
      if (image.read) ins_.push_back(&image);
      if (image.written) outs_.push_back(&image);
    }
  }

  std::string write() {
    window();
    if (chain_) out_ << "#if GSWO_CUDA\n";
    cuda();
    if (chain_) {
      out_ << "#else\n";
      cpu();
      out_ << "#endif\n";
    }
    return out_.str();
  }

 private:
  std::string y() const { return name_of(k_.rows().variable); }
  std::string x() const { return name_of(k_.columns().variable); }
  std::string type_of(const Loop &loop) const {
    return unit_.type_name(loop.variable->getType().getCanonicalType());
  }
  std::string source_type(const Image &i) const {
    return chain_ ? chain_->buffers[i.read_buffer].memory_type() : i.type;
  }
  std::string target_type(const Image &i) const {
    return chain_ ? chain_->buffers[i.write_buffer].memory_type() : i.type;
  }
  /// Template arguments of its views: the type in the user's code and the type in memory.
  std::string types(const Image &i, bool read) const {
    return i.type + ", " + (read ? source_type(i) : target_type(i));
  }
  bool is_texture(const Image &i) const { return !chain_ && through_texture(i); }
  bool is_tiled(const Image &i) const { return tiled_ && !i.centred && !is_texture(i); }
  int block_x() const { return k_.tile_x / k_.chunk_x; }
  int threads() const { return block_x() * (k_.tile_y / k_.chunk_y); }

  /// The window's arguments, or its parameters.
  std::string arguments(bool declared) const {
    std::string list = (declared ? type_of(k_.rows()) + " " : "") + y() + ", " +
                       (declared ? type_of(k_.columns()) + " " : "") + x();
    for (const Image *i : ins_)
      if (!i->in_register)
        list += ", " + (declared ? "const " + i->name + "_view &" : "") + i->name;
    for (const Image *i : outs_)
      list += ", " + (i->in_register
                          ? (declared ? i->type + " &" : "") + i->name + "_px"
                          : (declared ? "const " + i->output() + "_view &" : "") + i->output());
    for (const Scalar &s : k_.scalars)
      if (s.in_window) list += ", " + (declared ? s.type + " " : "") + s.name;
    return list;
  }

  void window() {
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

  std::string index(const Loop &loop, const std::string &turn) const {
    const std::string first = "(" + unit_.text(loop.first) + ") + ";
    return loop.step == 1 ? first + turn : first + std::to_string(loop.step) + " * (" + turn + ")";
  }

  std::string call(const std::string &indent, bool inner) const {
    std::string text;
    for (const Image *i : outs_)
      if (i->in_register)
        text += indent + i->type + " " + i->name + "_px" +
                (i->read ? " = " + i->name + "[" + y() + "][" + x() + "]" : "") + ";\n";
    text += indent + k_.name + "_window" +
            (!k_.knows_inner ? ""
             : inner         ? "<true>"
                             : "<false>") +
            "(" + arguments(false) + ");\n";
    for (const Image *i : outs_)
      if (i->in_register)
        text += indent + i->output() + "[" + y() + "][" + x() + "] = " + i->name + "_px;\n";
    return text;
  }

  void cuda() {
    std::string parameters;
    const auto add = [&](const std::string &p) {
      parameters += (parameters.empty() ? "" : ", ") + p;
    };
    for (const Image *i : ins_)
      add((is_texture(*i) ? "gswo::Texture " : "gswo::Plane ") + i->name + "_plane");
    for (const Image *i : outs_) add("gswo::Plane " + i->output() + "_plane");
    for (const Scalar &s : k_.scalars) add(s.type + " " + s.name);
    out_ << "extern \"C\" __global__ void __launch_bounds__("
         << threads()
         // Sorting networks need many registers; too few registers cost more than few threads.
         << (k_.sorts ? ", 1" : "") << ")\n"
         << k_.name << "(" << parameters << ")\n{\n";
    for (const auto &[place, text] : k_.bound_locals) out_ << text;
    if (k_.takes_neighbours())
      chunks();
    else
      turns();
    out_ << "}\n";
  }

  std::string place(const std::string &indent, const std::string &row,
                    const std::string &column) const {
    return indent + "const " + type_of(k_.rows()) + " " + y() + " = " + row + ";\n" + indent +
           "const " + type_of(k_.columns()) + " " + x() + " = " + column + ";\n";
  }
  std::string conditions() const {
    return "(" + condition(unit_, k_.rows()) + ") && (" + condition(unit_, k_.columns()) + ")";
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
    const Image &stored = *outs_.front();
    const bool aligns = (k_.chunk_x & (k_.chunk_x - 1)) == 0;
    out_ << "  // A block computes " << k_.tile_x << " x " << k_.tile_y << " pixels, a thread "
         << k_.chunk_x << " x " << k_.chunk_y << ".\n  const int g_first = (int)("
         << unit_.text(k_.columns().first) << ");\n  const int g_top = gswo::first_row((int)("
         << unit_.text(k_.rows().first) << "), " << k_.tile_y
         << "), g_left = gswo::first_column(g_first, " << stored.output() << "_plane.ox"
         << offset(-stored.write_x) << ", " << k_.tile_x << ", " << (aligns ? k_.chunk_x : 1)
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
    out_ << "  if (g_whole) return;\n";
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
         << call("    ", false) << "  }\n";
  }

  /// Whether results are kept until a row of the chunk is complete.
  static bool in_strips(const Image &i) { return i.always_written || i.in_register; }

  void assume_inside(const std::string &indent) {
    for (const Edge &e : k_.edges)
      if (e.is_used)
        out_ << indent << "gswo::assume_inside<" << e.low << ", " << e.high << ">((int)"
             << (e.of_row ? y() : x()) << ", " << e.origin << ", (int)" << e.size << ");\n";
  }

  void cpu() {
    out_ << "extern \"C\" void " << k_.name
         << "(void **g_args, int g_first, int g_last, int g_columns)\n{\n";
    int number = 0;
    const auto argument = [&](const std::string &type) {
      return "*(const " + type + " *)g_args[" + std::to_string(number++) + "]";
    };
    for (const Image *i : ins_)
      out_ << "  const gswo::Plane &" << i->name << "_plane = " << argument("gswo::Plane") << ";\n";
    for (const Image *i : outs_)
      out_ << "  const gswo::Plane &" << i->output() << "_plane = " << argument("gswo::Plane")
           << ";\n";
    for (const Scalar &s : k_.scalars)
      out_ << "  const " << s.type << " " << s.name << " = " << argument(s.type) << ";\n";
    for (const auto &[place, text] : k_.bound_locals) out_ << text;
    const bool inner = has_inner_windows();
    for (const Image *i : ins_) view(*i, "In", i->type + ", " + source_type(*i), i->name, inner);
    for (const Image *i : outs_)
      view(*i, "Out", i->type + ", " + target_type(*i), i->output(), inner);
    out_ << "  for (int g_row = g_first; g_row < g_last; g_row++) {\n    const "
         << type_of(k_.rows()) << " " << y() << " = " << index(k_.rows(), "g_row")
         << ";\n    if (!(" << condition(unit_, k_.rows()) << ")) continue;\n";
    if (inner) {
      inner_columns();
      row("0", "g_low", false);
      row("g_low", "g_high", true);
      row("g_high", "g_columns", false);
    } else {
      row("0", "g_columns", false);
    }
    out_ << "  }\n}\n";
  }

  /// Whether windows inside the image get code of their own, without checks for the border.
  bool has_inner_windows() const {
    return k_.columns().step == 1 &&
           std::all_of(ins_.begin(), ins_.end(), [](const Image *i) { return i->known; });
  }

  void view(const Image &, const std::string &kind, const std::string &types,
            const std::string &name, bool inner) {
    out_ << "  const gswo::" << kind << "<" << types << "> " << name << "_edge(" << name
         << "_plane);\n";
    if (inner)
      out_ << "  const gswo::Inner" << (kind == "In" ? "" : kind) << "<" << types << "> " << name
           << "_inner(" << name << "_plane);\n";
  }

  void inner_columns() {
    const std::string first = "(" + unit_.text(k_.columns().first) + ")";
    out_ << "    int g_low = 0, g_high = g_columns;  // the windows inside the image\n";
    const auto limit = [&](const std::string &plane, int y0, int y1, int x0, int x1) {
      out_ << "    gswo::limit(" << plane << ", (int)" << y() << ", (int)" << first << ", " << y0
           << ", " << y1 << ", " << x0 << ", " << x1 << ", g_low, g_high);\n";
    };
    for (const Image *i : ins_) limit(i->name + "_plane", i->y0, i->y1, i->x0, i->x1);
    for (const Edge &e : k_.edges)
      if (e.of_row)
        out_ << "    if (!gswo::is_inside((int)" << y() << offset(e.low) << ", (int)" << y()
             << offset(e.high) << ", " << e.origin << ", (int)" << e.size << ")) g_high = 0;\n";
      else
        out_ << "    gswo::limit_columns(" << e.origin << ", (int)" << e.size << ", (int)" << first
             << ", " << e.low << ", " << e.high << ", g_low, g_high);\n";
    for (const Image *i : outs_)
      limit(i->output() + "_plane", i->write_y, i->write_y, i->write_x, i->write_x);
    out_ << "    gswo::limit_turns((long long)(" << unit_.text(k_.columns().bound)
         << ") - (long long)" << first << (k_.columns().inclusive() ? " + 1" : "")
         << ", g_columns, g_low, g_high);\n";
  }

  void row(const std::string &from, const std::string &to, bool inner) {
    if (inner) out_ << "    GSWO_VECTORIZE\n";
    out_ << "    for (int g_column = " << from << "; g_column < " << to
         << "; g_column++) {\n      const " << type_of(k_.columns()) << " " << x() << " = "
         << index(k_.columns(), "g_column") << ";\n";
    if (!inner) out_ << "      if (!(" << condition(unit_, k_.columns()) << ")) break;\n";
    const char *suffix = inner ? "_inner" : "_edge";
    const auto use = [&](const std::string &name) {
      out_ << "      const auto &" << name << " = " << name << suffix << ";\n";
    };
    for (const Image *i : ins_) use(i->name);
    for (const Image *i : outs_) use(i->output());
    out_ << call("      ", inner) << "    }\n";
  }

  const Unit &unit_;
  const Kernel &k_;
  const Chain *chain_;
  const bool tiled_;
  std::vector<const Image *> ins_, outs_;
  std::ostringstream out_;
};

}  // namespace

std::string offset(int value) {
  return value ? (value < 0 ? " - " : " + ") + std::to_string(std::abs(value)) : "";
}

bool through_texture(const Image &image) {
  return image.texture && size_of(image.type) <= 4;
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
    if (!i.centred) bytes += size_of(i.type) * tile_rows(k, i) * tile_pitch(k, i);
  }
  // gswo::Rest also needs a count and a number for each thread.
  const std::size_t threads =
      static_cast<std::size_t>(k.tile_x / k.chunk_x) * (k.tile_y / k.chunk_y);
  return bytes + 16 + 2 * threads > kMostSharedBytes ? 0 : bytes;
}

std::string kernel_text(const Unit &unit, const Kernel &kernel, const Chain *chain) {
  return Writer(unit, kernel, chain).write();
}

}  // namespace cudascan::gswo
