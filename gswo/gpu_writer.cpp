// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gswo/kernel_writer.h"

namespace cudascan::gswo {

void GpuWriter::begin() {
  std::string parameters;
  const auto add = [&](const std::string &p) {
    parameters += (parameters.empty() ? "" : ", ") + p;
  };
  const auto plane = [&](const Image &i, const std::string &name) {
    add((i.is_volume ? "gswo::Volume " : "gswo::Plane ") + name + "_plane");
  };
  for (const Image *i : ins_)
    if (is_texture(*i))
      add("gswo::Texture " + i->name + "_plane");
    else
      plane(*i, i->name);
  for (const Image *i : outs_) plane(*i, i->output());
  for (const Scalar &s : k_.scalars) add(s.type + " " + s.name);
  for (const Table &t : k_.tables) add("const " + t.type + " *__restrict__ " + t.name);
  for (const Reduction &r : k_.reductions)
    add((r.is_table() ? r.type : "gswo::Word<" + r.type + ">") + " *" + r.name + "_result");
  out_ << "extern \"C\" __global__ void __launch_bounds__("
       << threads()
       // Sorting networks need many registers; too few registers cost more than few threads.
       << (k_.sorts ? ", 1" : "") << ")\n"
       << k_.name << "(" << parameters << ")\n{\n";
  for (const auto &[place, text] : k_.bound_locals) out_ << text;
  for (const Reduction &r : k_.reductions) begin(r);
}

void GpuWriter::end() {
  for (const Reduction &r : k_.reductions) end(r);
  out_ << "}\n";
}

int GpuWriter::threads() const {
  return k_.tile_x / k_.chunk_x * (k_.tile_y / k_.chunk_y) * (k_.tile_z / k_.chunk_z);
}

std::string GpuWriter::conditions() const {
  const std::string slices =
      k_.is_volume() ? "(" + condition(unit_, k_.slices()) + ") && " : std::string();
  return slices + "(" + condition(unit_, k_.rows()) + ") && (" + condition(unit_, k_.columns()) +
         ")";
}

/// The part of a variable that this thread, or block, computes.
void GpuWriter::begin(const Reduction &r) {
  if (!r.is_table()) {
    out_ << "  " << r.type << " " << r.name << " = gswo::" << r.operation << "::start<" << r.type
         << ">();\n";
    return;
  }
  if (table_bytes(r))
    out_ << "  __shared__ " << r.type << " " << r.name << "_counts[" << r.known_length
         << "];\n  gswo::clear<" << threads() << ">(" << r.name << "_counts, " << r.known_length
         << ");\n";
  out_ << "  const gswo::Cells<" << r.type << "> " << r.name << "{" << r.name
       << (table_bytes(r) ? "_counts" : "_result") << "};\n";
}

void GpuWriter::end(const Reduction &r) {
  if (table_bytes(r))
    out_ << "  gswo::add_counts<" << threads() << ">(" << r.name << "_counts, " << r.known_length
         << ", " << r.name << "_result);\n";
  else if (!r.is_table())
    out_ << "  gswo::reduce<gswo::" << r.operation << ", " << threads() << ">(" << r.name << ", "
         << r.name << "_result);\n";
}

}  // namespace cudascan::gswo
