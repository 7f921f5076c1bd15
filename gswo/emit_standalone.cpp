// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gswo/emit_standalone.h"

#include <algorithm>
#include <sstream>

#include "gswo/emit_file.h"
#include "gswo/emit_kernel.h"
#include "gswo/host_code.h"

namespace cudascan::gswo {

using namespace clang;

namespace {

/// First and last value of a loop, as text.
std::string lowest(const Unit &unit, const Loop &loop) {
  const std::string end = unit.text(loop.upwards() ? loop.first : loop.bound);
  return !loop.upwards() && !loop.inclusive() ? "(" + end + ") + 1" : end;
}
std::string highest(const Unit &unit, const Loop &loop) {
  const std::string end = unit.text(loop.upwards() ? loop.bound : loop.first);
  return loop.upwards() && !loop.inclusive() ? "(" + end + ") - 1" : end;
}

class Host {
 public:
  Host(const Unit &unit, const HostCode &code, const FunctionDecl *function,
       std::vector<const Kernel *> kernels)
      : unit_(unit), code_(code), function_(function), kernels_(std::move(kernels)) {}

  /// The function with its pragmas replaced.
  std::string write() {
    const auto range = range_of(unit_, function_);
    if (!range) return {};
    const std::string text = edited(*range);
    return (kernels_.empty() ? "\n"
                             : "// The function itself, which runs its windows on the GPU.\n") +
           unit_.source.line_directive(unit_.source.line(range->begin)) + text + "\n";
  }

 private:
  std::string edited(const Range &range) {
    Edits edits = code_.edits(function_);
    for (const Pragma &p : unit_.notes.pragmas) {
      if (p.begin < range.begin || p.end > range.end) continue;
      if (p.kind == PragmaKind::memory)
        edits.insert({p.begin, p.end, announcement(p) + memory(p)});
      else if (p.kind == PragmaKind::region)
        open(p, edits);
      else if (p.kind == PragmaKind::initialisation)
        edits.insert({p.begin, p.close + 1, "// single initialisation: in the kernel"});
      else if (p.kind == PragmaKind::parallel)
        edits.insert({p.begin, p.close + 1, launches(p)});
    }
    const auto block = unit_.typed(function_->getBody()->getSourceRange());
    if (block && !declared_.empty())
      edits.insert({block->begin + 1, block->begin + 1, "\n" + declared_});
    return apply(unit_.source, range, edits);
  }

  /// Begins a region.
  void open(const Pragma &p, Edits &edits) const {
    edits.insert({p.begin, p.end, p.braces ? "// parallel region\n" : ""});
    for (const std::string &name : p.scratch)
      if (!kernels_.empty() && !image(name))
        unit_.error(p.begin, "'" + name + "' under 'scratch' is no image that windows use");
    if (!code_.is_known(function_)) return;
    std::string names;
    for (const std::string &name : p.scratch) names += (names.empty() ? "" : ", ") + name;
    const std::string begin =
        " gswo::Region g_region;" + (names.empty() ? "" : " g_region.scratch(" + names + ");");
    const unsigned at = p.braces ? p.open + 1 : p.open;
    edits.insert({at, at, p.braces ? begin : "{" + begin + " "});
    if (!p.braces) edits.insert({p.close + 1, p.close + 1, " }"});
  }
  /// Whether a place is in a region that keeps images.
  bool in_region(unsigned place) const {
    const auto &all = unit_.notes.pragmas;
    return code_.is_known(function_) && std::any_of(all.begin(), all.end(), [&](const Pragma &p) {
             return p.kind == PragmaKind::region && p.open <= place && place <= p.close;
           });
  }
  /// What is said before a memory pragma reads or writes host memory.
  static std::string announcement(const Pragma &p) {
    if (p.name == "copybytexture") return "gswo::host_reads(); ";
    return p.name == "copymemcpy2d" || p.name == "copy2darrayto1darray" ? "gswo::host_changes(); "
                                                                        : "";
  }

  const Image *image(const std::string &name) const {
    for (const Kernel *k : kernels_)
      for (const Image &i : k->images)
        if (i.name == name) return &i;
    return nullptr;
  }

  /// The pixel type of an image that no window reads, from its pragmas; in the paper `char` is
  /// unsigned.
  std::string type_of(const std::string &name) const {
    if (const Image *i = image(name)) return i->type;
    for (const Pragma &p : unit_.notes.pragmas)
      if (p.name == "copybytexture" && p.arguments[0] == name)
        return p.arguments[5] == "char" ? "unsigned char" : p.arguments[5];
    return "float";
  }

  /// Whether pragmas manage the memory of an image.
  bool is_managed(const std::string &name) const {
    return std::any_of(unit_.notes.pragmas.begin(), unit_.notes.pragmas.end(),
                       [&](const Pragma &p) {
                         return (p.name == "copymalloc1darray" || p.name == "copybytexture") &&
                                p.arguments[0] == name;
                       });
  }
  bool has_texture(const Image &i) const { return through_texture(i); }

  /// Declares the memory of an image once, at the beginning of the function.
  std::string device(const std::string &name) {
    if (seen_.insert(name).second) {
      const std::string type = type_of(name);
      declared_ += "  gswo::Memory<" + type + "> d_" + name + ";\n";
    }
    return "d_" + name;
  }

  std::string memory(const Pragma &p) {
    const std::vector<std::string> &a = p.arguments;
    const std::string size = "(int)(" + a[2] + "), (int)(" + a[3] + ")";
    if (p.name == "copymalloc1darray") {
      if (seen_.insert(a[4]).second) declared_ += "  std::size_t " + a[4] + " = 0;\n";
      return device(a[0]) + ".allocate(" + size + "), " + a[4] + " = " + device(a[0]) +
             ".plane().pitch;  // cudaMallocPitch";
    }
    if (p.name == "copymemcpy2d") {
      std::string way;
      for (const char c : a[1]) way += c == ' ' ? '\0' : static_cast<char>(std::tolower(c));
      way.erase(std::remove(way.begin(), way.end(), '\0'), way.end());
      const bool up = way == "hosttodevice" || way == "todevice";
      if (!up && way != "devicetohost" && way != "tohost")
        unit_.error(p.begin,
                    "'" + a[1] + "' is not a direction; write HosttoDevice or DevicetoHost");
      return device(a[0]) + (up ? ".upload(" : ".download(") + a[5] + ", " + size +
             ");  // cudaMemcpy2D";
    }
    if (p.name == "copymemcpy2dtoarray")
      return device(a[0]) + ".to_array(" + size + ");  // cudaMemcpy2DToArray";
    if (p.name == "copybindtexture") return device(a[0]) + ".bind();  // the texture of " + a[2];
    if (p.name == "copybytexture") {
      if (a[4] == "Unbind") return "// " + a[0] + ": freeing its memory also frees the texture";
      const Image *i = image(a[0]);
      const std::string at = i ? pixel(*i) : a[0] + "[g_y][g_x]";
      return device(a[0]) + ".by_texture(" + size + ", [&](int g_y, int g_x) { return " + at +
             "; });";
    }
    const bool flat = a[5] == "2DTo1D";
    if (!flat && a[5] != "1DTo2D")
      unit_.error(p.begin, "'" + a[5] + "' is not a direction; write 2DTo1D or 1DTo2D");
    const std::string one = "[g_i * (" + a[2] + ") + g_j]", two = "[g_i][g_j]";
    return "for (int g_i = 0; g_i < (" + a[3] + "); g_i++) for (int g_j = 0; g_j < (" + a[2] +
           "); g_j++) " + a[4] + (flat ? one : two) + " = " + a[0] + (flat ? two : one) + ";";
  }

  /// The user's pixel at (g_y, g_x).
  static std::string pixel(const Image &i) {
    return i.dimensions == 2 ? i.name + "[g_y][g_x]" : i.name + "[g_y * (" + i.stride + ") + g_x]";
  }

  std::string launches(const Pragma &parallel) {
    std::string text = in_region(parallel.begin) ? "{\n" : "{ gswo::Region g_region;\n";
    for (const Kernel *k : kernels_)
      if (k->parallel == &parallel) launch(*k, text);
    const std::string replaced = unit_.text(Range{parallel.begin, parallel.close + 1});
    return text + "  }\n" + unit_.source.line_directive(unit_.source.line(parallel.close));
  }

  /// The rows, columns or slices that are read; only existing ones if the source itself keeps its
  /// indices inside the image.
  static std::string range(const Kernel &k, const Image &i, Role of) {
    const bool rows = of == Role::height, slices = of == Role::depth;
    const char *first = slices ? "g_front"
                        : rows ? "g_top"
                               : "g_left",
               *last = slices ? "g_back"
                       : rows ? "g_bottom"
                              : "g_right";
    const std::string low = first + offset(slices ? i.z0
                                           : rows ? i.y0
                                                  : i.x0),
                      high = last + offset(slices ? i.z1
                                           : rows ? i.y1
                                                  : i.x1);
    const Scalar *size = k.scalar(of);
    const std::string end = size ? "(long long)" + size->name + " - 1" : std::string(last);
    if (!i.known && i.clamped) return "0, " + end;
    if (!i.known)
      return std::string("std::min(0LL, ") + low + "), std::max<long long>(" + end + ", " + high +
             ")";
    if (!i.clamped) return low + ", " + high;
    return "std::max(0LL, " + low + "), std::min<long long>(" + end + ", " + high + ")";
  }

  void launch(const Kernel &k, std::string &text) {
    std::ostringstream o;
    const std::string depth = k.is_volume() ? ", g_front = " + lowest(unit_, k.slices()) +
                                                  ", g_back = " + highest(unit_, k.slices())
                                            : "";
    o << "    // " << k.name << "\n    const long long g_top = " << lowest(unit_, k.rows())
      << ", g_bottom = " << highest(unit_, k.rows()) << ", g_left = " << lowest(unit_, k.columns())
      << ", g_right = " << highest(unit_, k.columns()) << depth << ";\n    if ("
      << (k.is_volume() ? "g_back >= g_front && " : "")
      << "g_bottom >= g_top && g_right >= g_left) {\n";
    std::string arguments;
    const auto add = [&](const std::string &a) {
      arguments += (arguments.empty() ? "" : ", ") + a;
    };
    for (const Image &i : k.images)
      if (i.read) add(input(k, i, o));
    for (const Image &i : k.images)
      if (i.written) add(output(k, i, o));
    for (const Scalar &s : k.scalars) add(s.name);
    for (const Table &t : k.tables) {
      o << "    const " << t.type << " *const t_" << t.name << " = g_region.table(\"" << t.name
        << "\", " << t.name << ", " << t.length << ");\n";
      add("t_" + t.name);
    }
    for (const Reduction &r : k.reductions) add(reduced(r, o));
    const auto turns = [&](const Loop &loop, const char *first, const char *last) {
      const std::string step = std::to_string(std::abs(loop.step));
      return std::string("(") + last + " - " + first + ") / " + step + " + 1";
    };
    // Columns of an image may start up to a chunk before the loop.
    const int before = k.takes_neighbours() && !k.is_volume() ? k.chunk_x - 1 : 0;
    std::string threads, blocks;
    if (k.is_volume()) {
      threads = ", " + std::to_string(k.tile_z / k.chunk_z);
      blocks = ", gswo::blocks(" + turns(k.slices(), "g_front", "g_back") + ", " +
               std::to_string(k.tile_z) + ")";
    }
    o << "    const dim3 g_block(" << k.tile_x / k.chunk_x << ", " << k.tile_y / k.chunk_y
      << threads << "), g_grid(gswo::blocks(" << turns(k.columns(), "g_left", "g_right")
      << offset(before) << ", " << k.tile_x << "), gswo::blocks("
      << turns(k.rows(), "g_top", "g_bottom") << ", " << k.tile_y << ")" << blocks << ");\n"
      << "    " << k.name << "<<<g_grid, g_block>>>(" << arguments << ");\n    g_region.launched(\""
      << k.name << "\");\n";
    for (const Reduction &r : k.reductions)
      o << "    "
        << (r.is_table() ? "r_" + r.name + ".add_to(" + r.name + ")"
                         : r.name + " = r_" + r.name + ".with(" + r.name + ")")
        << ";\n";
    text += "  {\n" + o.str() + "    }\n  }\n";
  }

  void refuse_managed(const Kernel &k, const Image &i) const {
    unit_.error(k.pragma->begin, "memory pragmas are for images, but '" + i.name +
                                     "' is a volume; remove them, the program manages its memory");
  }

  std::string input(const Kernel &k, const Image &i, std::ostream &o) {
    if (has_texture(i)) {
      device(i.name);
      return "d_" + i.name + ".texture()";
    }
    if (is_managed(i.name)) {
      if (i.is_volume) refuse_managed(k, i);
      device(i.name);
      return "d_" + i.name + ".plane()";
    }
    o << "    const gswo::" << (i.is_volume ? "Volume d_" : "Plane d_") << i.name
      << " = g_region.read" << (i.is_volume ? "_volume(\"" : "(\"") << i.name << "\", " << i.name
      << ", " << (i.is_volume ? range(k, i, Role::depth) + ", " : "") << range(k, i, Role::height)
      << ", " << range(k, i, Role::width) << ", " << row(i) << (i.known ? "" : ", true") << ");\n";
    return "d_" + i.name;
  }

  /// What a kernel computes of a variable.
  static std::string reduced(const Reduction &r, std::ostream &o) {
    o << "    const gswo::Reduced" << (r.is_table() ? "Table<" : "<gswo::" + r.operation + ", ")
      << r.type << "> r_" << r.name << "(\"" << r.name << "\""
      << (r.is_table() ? ", " + r.length : "") << ");\n";
    return "r_" + r.name + ".result()";
  }

  std::string output(const Kernel &k, const Image &i, std::ostream &o) {
    const bool managed = is_managed(i.name);
    if (managed && i.is_volume) refuse_managed(k, i);
    if (managed && !i.in_place()) {
      device(i.name);
      return "d_" + i.name + ".plane()";
    }
    if (managed) {
      unit_.error(k.pragma->begin, "'" + i.name +
                                       "' is filtered in place, but windows need a second "
                                       "image; write into another one with "
                                       "copyMalloc1DArray(..., InKernel)");
      return {};
    }
    bool all = i.always_written;
    for (const Loop &loop : k.nest) all = all && std::abs(loop.step) == 1;
    const std::string slices =
        i.is_volume ? "g_front" + offset(i.write_z) + ", g_back" + offset(i.write_z) + ", " : "";
    o << "    const gswo::" << (i.is_volume ? "Volume d_" : "Plane d_") << i.output()
      << " = g_region.write" << (i.is_volume ? "_volume(\"" : "(\"") << i.name << "\", " << i.name
      << ", " << slices << "g_top" << offset(i.write_y) << ", g_bottom" << offset(i.write_y)
      << ", g_left" << offset(i.write_x) << ", g_right" << offset(i.write_x) << ", " << row(i)
      << ", " << (all ? "true" : "false") << ");\n";
    return "d_" + i.output();
  }

  /// A function that returns the address of the first pixel of a row.
  static std::string row(const Image &i) {
    const std::string slice = i.is_volume ? "[g_z]" : "",
                      row = i.is_volume ? "(g_z * (" + i.slice + ") + g_y)" : "g_y";
    const std::string function =
        std::string("[&](") + (i.is_volume ? "long long g_z, " : "") + "long long g_y) { return " +
        (i.dimensions > 1 ? "&" + i.name + slice + "[g_y][0]"
                          : "&" + i.name + "[" + row + " * (" + i.stride + ")]") +
        "; }";
    return has_equal_rows(i) ? "gswo::equal(" + function + ")" : function;
  }
  /// Whether the rows are at equal distances, whatever the program does: not if there is a table of
  /// their addresses.
  static bool has_equal_rows(const Image &i) {
    QualType row = i.variable->getType().getNonReferenceType();
    for (int k = 1; k < i.dimensions; ++k)
      row = row->isPointerType() ? row->getPointeeType()
                                 : QualType(row->getAsArrayTypeUnsafe()->getElementType());
    return i.dimensions == 1 || row->isArrayType();
  }

  const Unit &unit_;
  const HostCode &code_;
  const FunctionDecl *function_;
  std::vector<const Kernel *> kernels_;
  std::set<std::string> seen_;
  std::string declared_;
};

}  // namespace

std::string standalone_file(const Unit &unit, const std::vector<std::unique_ptr<Kernel>> &kernels) {
  const HostCode code(unit, kernels);
  std::map<const FunctionDecl *, std::string> replaced;
  std::set<std::string> clones;
  for (const auto &first : kernels) {
    const FunctionDecl *function = first->function;
    if (replaced.count(function)) continue;
    std::string text = "\n" + std::string(kHere) + clones_text(kernels, function, clones);
    std::vector<const Kernel *> mine;
    for (const auto &k : kernels)
      if (k->function == function) {
        mine.push_back(k.get());
        text += kernel_text(unit, *k, nullptr);
      }
    replaced[function] =
        with_linkage(function, text) + Host(unit, code, function, std::move(mine)).write();
  }
  for (const FunctionDecl *function : code.regions())
    replaced[function] = Host(unit, code, function, {}).write();
  const std::string file = edited_file(unit, kernels, replaced, true);
  return number_lines(
      unit.options,
      "// Written by gswo-cc " GSWO_VERSION " from " + unit.source.name() +
          "; a CUDA program for nvcc -std=c++20 -fmad=false --expt-relaxed-constexpr.\n"
          "#include <algorithm>\n#include \"gswo_host.h\"\n" +
          file);
}

}  // namespace cudascan::gswo
