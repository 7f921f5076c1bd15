// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What writing a kernel for the GPU and for the CPU have in common.
#pragma once
#include <sstream>

#include "gswo/emit_kernel.h"

namespace cudascan::gswo {

class KernelWriter {
 public:
  KernelWriter(const Unit &unit, const Kernel &kernel, const Chain *chain);

  /// Writes the window as a function of its own.
  void window();
  /// Writes a function that calls it on the host, to check a window that only programs can have.
  void check();

  std::string text() const { return out_.str(); }

 protected:
  std::string z() const { return name_of(k_.slices().variable); }
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

  /// The window's own pixel of an image.
  std::string pixel(const Image &i, const std::string &name) const {
    return name + (i.is_volume ? "[" + z() + "]" : "") + "[" + y() + "][" + x() + "]";
  }

  /// The window's arguments, or its parameters.
  std::string arguments(bool declared) const;

  /// The variable of a loop in an iteration.
  std::string index(const Loop &loop, const std::string &turn) const;

  /// The call of the window.
  /// @param inner  for a window inside the images
  std::string call(const std::string &indent, bool inner) const;

  const Unit &unit_;
  const Kernel &k_;
  const Chain *chain_;
  std::vector<const Image *> ins_, outs_;
  std::ostringstream out_;
};

/// What kernels for the GPU have in common.
class GpuWriter : public KernelWriter {
 public:
  using KernelWriter::KernelWriter;

 protected:
  /// Writes a kernel's parameters and its variables.
  void begin();
  /// Writes its end.
  void end();

  bool is_texture(const Image &i) const { return !chain_ && through_texture(i); }
  /// Threads of a block.
  int threads() const;
  /// The conditions of all loops for a window.
  std::string conditions() const;

 private:
  void begin(const Reduction &);
  void end(const Reduction &);
};

/// Writes the kernel for the GPU.
std::string cuda_text(const Unit &, const Kernel &, const Chain *);
/// The same for a volume.
std::string volume_text(const Unit &, const Kernel &);
/// Writes the function for the CPU that makes some rows.
std::string cpu_text(const Unit &, const Kernel &, const Chain *);

}  // namespace cudascan::gswo
