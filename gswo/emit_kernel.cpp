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

/// A row of a tile: odd, so that the rows begin in different banks.
int tile_pitch(const Kernel &k, const Image &i) {
  return (k.tile_x + i.x1 - i.x0) | 1;
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
  bool is_texture(const Image &i) const { return !chain_ && through_texture(i); }
  bool is_tiled(const Image &i) const { return tiled_ && !i.centred && !is_texture(i); }

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
    std::string views;
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

  std::string call(const std::string &indent) const {
    std::string text;
    for (const Image *i : outs_)
      if (i->in_register)
        text += indent + i->type + " " + i->name + "_px" +
                (i->read ? " = " + i->name + "[" + y() + "][" + x() + "]" : "") + ";\n";
    text += indent + k_.name + "_window(" + arguments(false) + ");\n";
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
    const int bx = k_.tile_x / k_.chunk_x, by = k_.tile_y / k_.chunk_y;
    out_ << "extern \"C\" __global__ void __launch_bounds__(" << bx * by << ")\n"
         << k_.name << "(" << parameters << ")\n{\n";
    for (const auto &[place, text] : k_.bound_locals) out_ << text;
    for (const Image *i : ins_)
      out_ << "  const "
           << (is_texture(*i) ? "gswo::Tex<" + i->type
                              : "gswo::In<" + i->type + ", " + source_type(*i))
           << "> " << i->name << (is_tiled(*i) ? "_all" : "") << "(" << i->name << "_plane);\n";
    for (const Image *i : outs_)
      out_ << "  const gswo::Out<" << i->type << ", " << target_type(*i) << "> " << i->output()
           << "(" << i->output() << "_plane);\n";
    if (tiled_) tiles();
    if (k_.chunk_x * k_.chunk_y == 1)
      one_window(bx, by);
    else
      chunk(bx);
    out_ << "}\n";
  }

  void tiles() {
    out_ << "  const int " << y()
         << "_tile = " << index(k_.rows(), "(int)(blockIdx.y * " + std::to_string(k_.tile_y) + ")")
         << ", " << x() << "_tile = "
         << index(k_.columns(), "(int)(blockIdx.x * " + std::to_string(k_.tile_x) + ")") << ";\n";
    for (const Image *i : ins_)
      if (is_tiled(*i))
        out_ << "  // The tile with its halo: rows " << i->y0 << ".." << i->y1 << ", columns "
             << i->x0 << ".." << i->x1 << " around each pixel.\n  __shared__ " << i->type << " "
             << i->name << "_memory[" << tile_rows(k_, *i) << " * " << tile_pitch(k_, *i) << "];\n"
             << "  const gswo::Tile<" << i->type << ", " << k_.tile_x << ", " << k_.tile_y << ", "
             << i->x0 << ", " << i->x1 << ", " << i->y0 << ", " << i->y1 << "> " << i->name << "("
             << i->name << "_memory, " << i->name << "_all, " << y() << "_tile, " << x()
             << "_tile);\n";
  }

  std::string conditions() const {
    return "(" + condition(unit_, k_.rows()) + ") && (" + condition(unit_, k_.columns()) + ")";
  }

  std::string place(const std::string &indent, const std::string &row,
                    const std::string &column) const {
    return indent + "const " + type_of(k_.rows()) + " " + y() + " = " + index(k_.rows(), row) +
           ";\n" + indent + "const " + type_of(k_.columns()) + " " + x() + " = " +
           index(k_.columns(), column) + ";\n";
  }

  void one_window(int bx, int by) {
    out_ << "  const int g_row = blockIdx.y * " << by << " + threadIdx.y, g_column = blockIdx.x * "
         << bx << " + threadIdx.x;\n"
         << place("  ", "g_row", "g_column") << "  if (" << conditions() << ") {\n"
         << call("    ") << "  }\n";
  }

  /// Neighbouring rows go to one thread: what their windows share is loaded once, as nothing stands
  /// between them.
  void chunk(int bx) {
    out_ << "  // chunksize: " << k_.chunk_x << " x " << k_.chunk_y << " windows for each thread\n"
         << "  const int g_row = blockIdx.y * " << k_.tile_y << " + threadIdx.y * " << k_.chunk_y
         << ", g_column = blockIdx.x * " << k_.tile_x << " + threadIdx.x;\n"
         << "  bool g_all;\n  {\n"
         << place("    ", "g_row + " + std::to_string(k_.chunk_y - 1),
                  "g_column + " + std::to_string((k_.chunk_x - 1) * bx))
         << "    g_all = " << conditions() << ";\n  }\n";
    for (const bool all : {true, false}) {
      const char *unroll = all ? "GSWO_UNROLL " : "";
      out_ << (all ? "  if (g_all) {\n" : "  } else {\n") << "    " << unroll
           << "for (int g_cy = 0; g_cy < " << k_.chunk_y << "; g_cy++) {\n      " << unroll
           << "for (int g_cx = 0; g_cx < " << k_.chunk_x << "; g_cx++) {\n"
           << place("        ", "g_row + g_cy", "g_column + g_cx * " + std::to_string(bx));
      if (!all) out_ << "        if (!(" << conditions() << ")) continue;\n";
      out_ << call("        ") << "      }\n    }\n";
    }
    out_ << "  }\n";
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

  /// Whether windows that lie inside of the image are told apart, for which no border is asked.
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
    out_ << "    int g_low = 0, g_high = g_columns;  // the windows that lie inside of the image\n";
    const auto limit = [&](const std::string &plane, int y0, int y1, int x0, int x1) {
      out_ << "    gswo::limit(" << plane << ", (int)" << y() << ", (int)" << first << ", " << y0
           << ", " << y1 << ", " << x0 << ", " << x1 << ", g_low, g_high);\n";
    };
    for (const Image *i : ins_) limit(i->name + "_plane", i->y0, i->y1, i->x0, i->x1);
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
    out_ << call("      ") << "    }\n";
  }

  const Unit &unit_;
  const Kernel &k_;
  const Chain *chain_;
  const bool tiled_;
  std::vector<const Image *> ins_, outs_;
  std::ostringstream out_;
};

}  // namespace

bool through_texture(const Image &image) {
  return image.texture && size_of(image.type) <= 4;
}

std::size_t tile_bytes(const Unit &unit, const Kernel &k, const Chain *chain) {
  if (!unit.options.tiles || k.rows().step != 1 || k.columns().step != 1) return 0;
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
  return bytes > kMostSharedBytes ? 0 : bytes;
}

std::string kernel_text(const Unit &unit, const Kernel &kernel, const Chain *chain) {
  return Writer(unit, kernel, chain).write();
}

}  // namespace cudascan::gswo
