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

 private:
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
};

}  // namespace

std::string cpu_text(const Unit &unit, const Kernel &kernel, const Chain *chain) {
  CpuWriter writer(unit, kernel, chain);
  writer.write();
  return writer.text();
}

}  // namespace cudascan::gswo
