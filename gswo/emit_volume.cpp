// SPDX-License-Identifier: LGPL-2.1-or-later
// Kernels for volumes, and sequences of frames. Only programs have them, so windows read no border:
// what they read is on the device.
#include <algorithm>

#include "gswo/kernel_writer.h"

namespace cudascan::gswo {

namespace {

class VolumeWriter : public GpuWriter {
 public:
  VolumeWriter(const Unit &unit, const Kernel &kernel)
      : GpuWriter(unit, kernel, nullptr), tiled_(tile_bytes(unit, kernel, nullptr) > 0) {}

  void write() {
    begin();
    out_ << "  // A block computes " << k_.tile_x << " x " << k_.tile_y << " x " << k_.tile_z
         << " pixels, a thread " << k_.chunk_x << " x " << k_.chunk_y << " x " << k_.chunk_z
         << ".\n";
    if (tiled_) {
      place("g_", "  ", "blockIdx.z * " + std::to_string(k_.tile_z),
            "blockIdx.y * " + std::to_string(k_.tile_y),
            "blockIdx.x * " + std::to_string(k_.tile_x));
    }
    for (const Image *i : ins_) is_tiled(*i) ? tile(*i) : view(*i);
    for (const Image *i : outs_)
      out_ << "  const gswo::" << (i->is_volume ? "OutSlices<" : "InnerOut<") << i->type
           << (i->is_volume ? "> " : ", " + i->type + "> ") << i->output() << "(" << i->output()
           << "_plane);\n";
    out_ << "  const int g_slice = (int)(blockIdx.z * " << k_.tile_z << " + threadIdx.z * "
         << k_.chunk_z << "), g_row = (int)(blockIdx.y * " << k_.tile_y << " + threadIdx.y * "
         << k_.chunk_y << "), g_column = (int)(blockIdx.x * " << k_.tile_x
         << " + threadIdx.x);\n  bool g_whole;  // all windows are iterations of the loops\n  {\n";
    place("", "    ", "g_slice" + offset(k_.chunk_z - 1), "g_row" + offset(k_.chunk_y - 1),
          "g_column" + offset((k_.chunk_x - 1) * block_x()));
    out_ << "    g_whole = " << conditions() << ";\n  }\n  if (g_whole) {\n";
    windows(true);
    out_ << "  } else {\n";
    windows(false);
    out_ << "  }\n";
    end();
  }

 private:
  bool is_tiled(const Image &i) const {
    return tiled_ && i.is_volume && !i.centred && !is_texture(i);
  }
  int block_x() const { return k_.tile_x / k_.chunk_x; }

  /// Declares the loops' variables in an iteration.
  void place(const std::string &prefix, const std::string &indent, const std::string &slice,
             const std::string &row, const std::string &column) {
    const auto declare = [&](const Loop &loop, const std::string &name, const std::string &turn) {
      out_ << indent << "const " << type_of(loop) << " " << prefix << name << " = "
           << index(loop, "(int)(" + turn + ")") << ";\n";
    };
    declare(k_.slices(), z(), slice);
    declare(k_.rows(), y(), row);
    declare(k_.columns(), x(), column);
  }

  void view(const Image &i) {
    const std::string kind = is_texture(i)  ? "Tex<" + i.type
                             : !i.is_volume ? (i.known ? "Inner<" : "In<") + i.type + ", " + i.type
                             : i.known      ? "InnerSlices<" + i.type
                                            : "InSlices<" + i.type;
    out_ << "  const gswo::" << kind << "> " << i.name << "(" << i.name << "_plane);\n";
  }

  void tile(const Image &i) {
    const std::string type = i.name + "_tile";
    out_ << "  // The tile with its halo: slices " << i.z0 << ".." << i.z1 << ", rows " << i.y0
         << ".." << i.y1 << ", columns " << i.x0 << ".." << i.x1 << " around each pixel.\n  using "
         << type << " = gswo::VolumeTile<" << i.type << ", " << k_.tile_x << ", " << k_.tile_y
         << ", " << k_.tile_z << ", " << i.x0 << ", " << i.x1 << ", " << i.y0 << ", " << i.y1
         << ", " << i.z0 << ", " << i.z1 << ", " << threads() << ">;\n  __shared__ " << type
         << "::Memory " << i.name << "_memory;\n  const " << type << " " << i.name << "(" << i.name
         << "_memory, " << i.name << "_plane, (int)g_" << z() << ", (int)g_" << y() << ", (int)g_"
         << x() << ");\n";
  }

  /// Whether results are kept in registers until all windows of the thread are done. Otherwise
  /// compilers would read tiles again after each store, which could have changed them.
  bool is_kept(const Image &i) const {
    constexpr std::size_t kMostBytes = 128;
    return i.is_volume && (i.always_written || i.in_register) && chunk() > 1 &&
           chunk() * i.size <= kMostBytes;
  }
  int chunk() const { return k_.chunk_x * k_.chunk_y * k_.chunk_z; }

  /// Opens the loops over the windows of a thread.
  /// @return how many loops
  int open(const char *unroll, std::string &indent) {
    int loops = 0;
    const auto loop = [&](const char *variable, int size) {
      if (size == 1) return std::string();
      out_ << indent << unroll << " for (int " << variable << " = 0; " << variable << " < " << size
           << "; " << variable << "++) {\n";
      indent += "  ";
      ++loops;
      return std::string(" + ") + variable;
    };
    const std::string column = loop("g_cx", k_.chunk_x), row = loop("g_cy", k_.chunk_y),
                      slice = loop("g_cz", k_.chunk_z);
    if (!loops) out_ << indent << "do {\n", indent += "  ";
    place("", indent, "g_slice" + slice, "g_row" + row,
          "g_column" + (column.empty() ? "" : column + " * " + std::to_string(block_x())));
    return loops;
  }
  void close(int loops, std::string &indent) {
    const bool single = loops == 0;
    for (loops = std::max(loops, 1); loops > 0; --loops) {
      indent.resize(indent.size() - 2);
      out_ << indent << (single ? "} while (false);\n" : "}\n");
    }
  }
  /// The number of a window in the thread, if it has several.
  std::string number() const {
    std::string text;
    const auto add = [&](const char *variable, int size, int distance) {
      if (size == 1) return;
      text += text.empty() ? "" : " + ";
      text += variable;
      if (distance > 1) text += " * " + std::to_string(distance);
    };
    add("g_cx", k_.chunk_x, k_.chunk_y * k_.chunk_z);
    add("g_cy", k_.chunk_y, k_.chunk_z);
    add("g_cz", k_.chunk_z, 1);
    return text;
  }

  void windows(bool whole) {
    const char *unroll = whole ? "GSWO_UNROLL" : "GSWO_ROLL";
    std::string indent = "    ";
    std::vector<const Image *> kept;
    for (const Image *i : outs_)
      if (whole && is_kept(*i)) kept.push_back(i);
    for (const Image *i : kept)
      out_ << indent << "gswo::Kept<" << i->type << ", " << chunk() << "> " << i->output()
           << "_kept;\n";
    int loops = open(unroll, indent);
    for (const Image *i : kept)
      out_ << indent << "const auto " << i->output() << " = " << i->output() << "_kept(" << number()
           << ");\n";
    if (!whole) out_ << indent << "if (!(" << conditions() << ")) continue;\n";
    out_ << call(indent, false);
    close(loops, indent);
    if (kept.empty()) return;
    loops = open(unroll, indent);
    for (const Image *i : kept)
      out_ << indent << i->output() << "[" << z() << offset(i->write_z) << "][" << y()
           << offset(i->write_y) << "][" << x() << offset(i->write_x) << "] = " << i->output()
           << "_kept.pixels[" << number() << "];\n";
    close(loops, indent);
  }

  const bool tiled_;
};

}  // namespace

std::string volume_text(const Unit &unit, const Kernel &kernel) {
  VolumeWriter writer(unit, kernel);
  writer.write();
  return writer.text();
}

}  // namespace cudascan::gswo
