// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>

#include "gswo/kernel_writer.h"

namespace cudascan::gswo {

using namespace clang;

namespace {

class CpuWriter : public KernelWriter {
 public:
  using KernelWriter::KernelWriter;

  void write() {
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
    if (has_inner_windows())
      parts();
    else
      whole_rows();
    out_ << "}\n";
  }

 private:
  /// Most rows of the windows that are computed from parts of the images.
  static constexpr int kRows = 16;
  /// Bytes of most columns.
  static constexpr std::size_t kRowBytes = 2048;
  /// They are on the stack.
  static constexpr std::size_t kMostBytes = 128 * 1024;

  /// Whether windows inside the image get code of their own, without checks for the border.
  bool has_inner_windows() const {
    return k_.columns().step == 1 &&
           std::all_of(ins_.begin(), ins_.end(), [](const Image *i) { return i->known; });
  }

  static bool is_own_pixel(const Image &i) { return !(i.y0 || i.y1 || i.x0 || i.x1); }

  /// The images that windows read from parts in the user's type.
  void choose_parts() {
    std::size_t size = 1;
    for (const Image &i : k_.images) size = std::max<std::size_t>(size, i.size);
    columns_ = static_cast<int>(kRowBytes / size);
    if (k_.rows().step != 1) return;
    std::size_t bytes = 0;
    for (const Image *i : ins_) {
      if (is_own_pixel(*i)) continue;
      // Far offsets would not fit anyway.
      if (i->y1 - i->y0 > 1024 || i->x1 - i->x0 > 1024) return in_parts_.clear();
      bytes += i->size * (kRows + i->y1 - i->y0) * (columns_ + i->x1 - i->x0);
      in_parts_.insert(i);
    }
    if (bytes > kMostBytes) in_parts_.clear();
  }
  bool is_in_parts(const Image *i) const { return in_parts_.count(i); }
  /// Whether the pixels of a row are stored together. Those that windows do not set would change.
  static bool has_row(const Image &i) { return i.always_written; }

  /// Whether no window reads pixels outside an image.
  bool stays_inside(const Image &i) const {
    const auto margins = k_.margins(unit_);
    return margins && margins->above >= -i.y0 && margins->below >= i.y1 && margins->left >= -i.x0 &&
           margins->right >= i.x1;
  }

  /// Whether some windows with a pixel in the image are not inside.
  bool has_edge_windows() const {
    return k_.knows_inner ||
           std::any_of(ins_.begin(), ins_.end(),
                       [&](const Image *i) { return !is_in_parts(i) && !is_own_pixel(*i); }) ||
           std::any_of(outs_.begin(), outs_.end(),
                       [](const Image *i) { return i->write_y || i->write_x; });
  }

  /// For windows whose surroundings are not known.
  void whole_rows() {
    for (const Image *i : ins_) view("In", *i, true, i->name, "");
    for (const Image *i : outs_) view("Out", *i, false, i->output(), "");
    out_ << "  for (int g_row = g_first; g_row < g_last; g_row++) {\n";
    begin_row("    ");
    out_ << "    for (int g_column = 0; g_column < g_columns; g_column++) {\n";
    begin_window("      ");
    out_ << "      if (!(" << condition(unit_, k_.columns()) << ")) break;\n"
         << call("      ", false) << "    }\n  }\n";
  }

  void parts() {
    choose_parts();
    const bool has_edges = has_edge_windows();
    for (const Image *i : ins_)
      if (is_in_parts(i)) {
        out_ << "  gswo::Part<" << types(*i, true) << ", " << kRows << ", " << columns_ << ", "
             << i->y0 << ", " << i->y1 << ", " << i->x0 << ", " << i->x1
             << (stays_inside(*i) ? ", true> " : "> ") << i->name << "_part;\n";
      } else {
        view("Inner", *i, true, i->name, "_inner");
        if (has_edges) view("In", *i, true, i->name, "_edge");
      }
    for (const Image *i : ins_)
      if (!i->sums.empty())
        out_ << "  gswo::Sums<" << types(*i, true) << ", " << columns_ << boxes(*i) << "> "
             << i->name << "_sums;\n";
    for (const Image *i : outs_) {
      if (has_row(*i))
        out_ << "  gswo::OutRow<" << types(*i, false) << ", " << columns_ << "> " << i->output()
             << "_row(" << i->output() << "_plane);\n";
      else
        view("InnerOut", *i, false, i->output(), "_inner");
      if (has_edges) view("Out", *i, false, i->output(), "_edge");
    }
    out_ << "  for (int g_top = g_first; g_top < g_last; g_top += " << kRows
         << ")\n  for (int g_left = 0; g_left < g_columns; g_left += " << columns_
         << ") {\n    const int g_bottom = g_last - g_top < " << kRows << " ? g_last : g_top + "
         << kRows << ";\n    const int g_right = g_columns - g_left < " << columns_
         << " ? g_columns : g_left + " << columns_ << ";\n";
    for (const Image *i : ins_)
      if (is_in_parts(i))
        out_ << "    const auto " << i->name << "_inner = " << i->name << "_part.read(" << i->name
             << "_plane, (int)(" << index(k_.rows(), "g_top") << "), (int)("
             << index(k_.columns(), "g_left") << "), g_bottom - g_top, g_right - g_left);\n";
    out_ << "    for (int g_row = g_top; g_row < g_bottom; g_row++) {\n";
    begin_row("      ");
    inner_columns();
    if (has_edges) edge_windows();
    const std::string first = "(int)(" + index(k_.columns(), "g_low") + ")";
    for (const Image *i : outs_)
      if (has_row(*i))
        out_ << "      const auto &" << i->output() << "_inner = " << i->output() << "_row.view("
             << first << offset(i->write_x) << ");\n";
    for (const Image *i : ins_)
      if (!i->sums.empty())
        out_ << "      const auto " << i->name << "_summed = " << i->name << "_sums.add(" << i->name
             << "_inner, (int)" << y() << ", " << first << ", g_high - g_low);\n";
    out_ << "      GSWO_VECTORIZE\n      for (int g_column = g_low; g_column < g_high; g_column++) "
            "{\n";
    begin_window("        ");
    for (const Image *i : ins_) use(i->name, i->sums.empty() ? "_inner" : "_summed");
    for (const Image *i : outs_) use(i->output(), "_inner");
    out_ << call("        ", true) << "      }\n";
    for (const Image *i : outs_)
      if (has_row(*i))
        out_ << "      " << i->output() << "_row.store((int)" << y() << offset(i->write_y) << ", "
             << first << offset(i->write_x) << ", g_high - g_low);\n";
    out_ << "    }\n  }\n";
  }

  static std::string boxes(const Image &image) {
    std::string list;
    for (const Box &b : image.sums)
      list += ", gswo::Box<" + std::to_string(b.y0) + ", " + std::to_string(b.y1) + ", " +
              std::to_string(b.x0) + ", " + std::to_string(b.x1) + ">";
    return list;
  }
  void view(const std::string &kind, const Image &image, bool read, const std::string &name,
            const std::string &suffix) {
    out_ << "  const gswo::" << kind << "<" << types(image, read) << "> " << name << suffix << "("
         << name << "_plane);\n";
  }
  void use(const std::string &name, const std::string &suffix) {
    out_ << "        const auto &" << name << " = " << name << suffix << ";\n";
  }
  void begin_row(const std::string &indent) {
    out_ << indent << "const " << type_of(k_.rows()) << " " << y() << " = "
         << index(k_.rows(), "g_row") << ";\n"
         << indent << "if (!(" << condition(unit_, k_.rows()) << ")) continue;\n";
  }
  void begin_window(const std::string &indent) {
    out_ << indent << "const " << type_of(k_.columns()) << " " << x() << " = "
         << index(k_.columns(), "g_column") << ";\n";
  }

  void inner_columns() {
    const std::string first = "(" + unit_.text(k_.columns().first) + ")";
    out_ << "      int g_low = g_left, g_high = g_right;  // the windows inside the image\n";
    const auto limit = [&](const std::string &plane, int y0, int y1, int x0, int x1) {
      out_ << "      gswo::limit(" << plane << ", (int)" << y() << ", (int)" << first << ", " << y0
           << ", " << y1 << ", " << x0 << ", " << x1 << ", g_low, g_high);\n";
    };
    for (const Image *i : ins_)
      if (!is_in_parts(i)) limit(i->name + "_plane", i->y0, i->y1, i->x0, i->x1);
    for (const Edge &e : k_.edges) {
      if (!k_.knows_inner) break;  // no window asks
      if (e.of_row)
        out_ << "      if (!gswo::is_inside((int)" << y() << offset(e.low) << ", (int)" << y()
             << offset(e.high) << ", " << e.origin << ", (int)" << e.size << ")) g_high = 0;\n";
      else
        out_ << "      gswo::limit_columns(" << e.origin << ", (int)" << e.size << ", (int)"
             << first << ", " << e.low << ", " << e.high << ", g_low, g_high);\n";
    }
    for (const Image *i : outs_)
      limit(i->output() + "_plane", i->write_y, i->write_y, i->write_x, i->write_x);
    out_ << "      gswo::limit_turns((long long)(" << unit_.text(k_.columns().bound)
         << ") - (long long)" << first << (k_.columns().inclusive() ? " + 1" : "")
         << ", g_left, g_right, g_low, g_high);\n";
  }

  /// Windows to the left and to the right of those inside.
  void edge_windows() {
    out_ << "      for (int g_side = 0; g_side < 2; g_side++)\n      for (int g_column = g_side ? "
            "g_high : g_left; g_column < (g_side ? g_right : g_low); g_column++) {\n";
    begin_window("        ");
    out_ << "        if (!(" << condition(unit_, k_.columns()) << ")) break;\n";
    for (const Image *i : ins_) use(i->name, is_in_parts(i) ? "_inner" : "_edge");
    for (const Image *i : outs_) use(i->output(), "_edge");
    out_ << call("        ", false) << "      }\n";
  }

  std::set<const Image *> in_parts_;
  int columns_ = 0;  ///< most columns of these windows
};

}  // namespace

std::string cpu_text(const Unit &unit, const Kernel &kernel, const Chain *chain) {
  CpuWriter writer(unit, kernel, chain);
  writer.write();
  return writer.text();
}

}  // namespace cudascan::gswo
