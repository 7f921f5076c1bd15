// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/usercode/chain.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <set>

#include "kernels/base/refuse.h"
#include "kernels/planes.h"

namespace cudascan::gswo {
namespace {

constexpr int kRowUnit = 256;  // bytes
constexpr int kMinRows = 8;    // of a band

int divide_up(int x, int by) {
  return (x + by - 1) / by;
}

Plane<std::uint8_t> bytes_of(const ChainImage &image) {
  return {static_cast<std::uint8_t *>(image.data), image.width * image.sample_bytes, image.height,
          image.stride};
}

/// A kernel with its arguments.
struct Call {
  const step::Kernel &kernel;
  std::vector<void *> arguments;
  int rows, columns;
};

void launch(Cpu &cpu, SharedObject &code, const Call &call) {
  using Function = void(void **, int, int, int);
  const auto function = reinterpret_cast<Function *>(code.symbol(call.kernel.name.c_str()));
  if (!function) refuse("the filter has no function ", call.kernel.name, "; translate it again");
  auto arguments = call.arguments;
  cpu.for_bands(call.rows, kMinRows,
                [&](int begin, int end) { function(arguments.data(), begin, end, call.columns); });
}

void launch(Cuda &cuda, GpuModule &code, const Call &call) {
  auto arguments = call.arguments;
  const auto &[kernel, ignored, rows, columns] = call;
  code.launch(kernel.name.c_str(), divide_up(columns, kernel.tile[0]),
              divide_up(rows, kernel.tile[1]), kernel.block[0], kernel.block[1], cuda.stream(),
              arguments.data());
}

/// One run of a filter. A temporary image that is read before anything was written to it, because a
/// loop had no iterations, is 0.
template <typename Exec, typename Code>
class Run {
 public:
  Run(Exec &exec, Code &code, const ManifestFunction &function, std::vector<ChainImage> images,
      const ChainImage &in, const std::map<std::string, double> &values)
      : exec_(exec),
        code_(code),
        function_(function),
        images_(std::move(images)),
        written_{in.data} {
    const ChainImage &frame = images_.front();
    for (const ManifestScalar &scalar : function.scalars)
      scalars_.push_back(value_of(scalar, frame, values));
  }

  /// The steps [begin, end).
  void steps(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (const auto *repeat = std::get_if<step::Repeat>(&function_.steps[i])) {
        turns(*repeat, i + 1);
        i = repeat->end - 1;
      } else {
        std::visit([this](const auto &step) { take(step); }, function_.steps[i]);
      }
    }
  }
  /// Whether they wrote to any image.
  bool has_written(const ChainImage &image) const { return written_.count(image.data) > 0; }

 private:
  /// Filters the whole frame or nothing.
  static int size_for(const ManifestScalar &scalar, int size) {
    if (const std::string range = range_missed(scalar.type, size); !range.empty())
      refuse("source: the size of the frame, ", size, ", does not fit into the parameter ",
             scalar.name, ", whose type ", scalar.type, " holds ", range, "; make it an int");
    return size;
  }
  static double value_of(const ManifestScalar &scalar, const ChainImage &frame,
                         const std::map<std::string, double> &values) {
    using Role = ManifestScalar::Role;
    switch (scalar.role) {
      case Role::height:
        return size_for(scalar, frame.height);
      case Role::width:
        return size_for(scalar, frame.width);
      case Role::turn:
        return 0;
      case Role::value:
        break;
    }
    if (const auto value = values.find(scalar.name); value != values.end()) return value->second;
    if (!scalar.otherwise)
      refuse("params: the filter has a parameter ", scalar.name,
             " without a default; give it a value, such as params,", scalar.name, "=1");
    return *scalar.otherwise;
  }

  void turns(const step::Repeat &repeat, std::size_t begin) {
    const double more = repeat.scalar < 0 ? 0 : std::trunc(scalars_[repeat.scalar]);
    const double count = repeat.count + more;
    if (count > kMostTurns)
      refuse(repeat.scalar < 0 ? "source" : "params: " + function_.scalars[repeat.scalar].name,
             ": a filter repeats its kernels at most ", kMostTurns, " times, not ", count);
    for (int turn = 0; turn < count; ++turn) {
      if (repeat.turn >= 0)
        scalars_[repeat.turn] = repeat.first + static_cast<double>(turn) * repeat.difference;
      steps(begin, repeat.end);
    }
  }

  void take(const step::Kernel &kernel) {
    std::vector<ChainImage> images;
    std::vector<std::array<unsigned char, 8>> values;
    images.reserve(kernel.arguments.size());
    values.reserve(kernel.arguments.size());
    const ChainImage &frame = images_.front();
    Call call{kernel, {}, frame.height + kernel.lead[0], frame.width + kernel.lead[1]};
    if (call.rows <= 0 || call.columns <= 0) return;
    for (const auto [is_image, number, is_read] : kernel.arguments) {
      if (is_image) {
        images.push_back(images_[number]);
        const bool first = written_.insert(images_[number].data).second;
        if (is_read && first) fill(exec_, bytes_of(images_[number]), 0);
        images.back().oy = kernel.origin[0];
        images.back().ox = kernel.origin[1];
        call.arguments.push_back(&images.back());
      } else {
        values.push_back(value_of_type(function_.scalars[number].type, scalars_[number]));
        call.arguments.push_back(values.back().data());
      }
    }
    launch(exec_, code_, call);
  }
  void take(const step::Clear &clear) {
    const ChainImage &image = images_[clear.image];
    written_.insert(image.data);
    fill(exec_, bytes_of(image), 0);
  }
  void take(const step::Swap &swap) { std::swap(images_[swap.first], images_[swap.second]); }
  void take(const step::Repeat &) {}

  static constexpr int kMostTurns = 100'000;

  Exec &exec_;
  Code &code_;
  const ManifestFunction &function_;
  std::vector<ChainImage> images_;
  std::vector<double> scalars_;
  std::set<const void *> written_;  // images and the source
};

template <typename Exec, typename Code>
void run_steps(Exec &exec, Code &code, const ManifestFunction &function, ChainMemory<Exec> &memory,
               const ChainImage &in, const ChainImage &out,
               const std::map<std::string, double> &values) {
  using Place = ManifestImage::Place;
  std::vector<ChainImage> images;
  for (const ManifestImage &image : function.images) {
    if (image.place == Place::scratch)
      images.push_back(memory.image(static_cast<int>(images.size()), size_of_type(image.type),
                                    in.width, in.height));
    else
      images.push_back(image.place == Place::source ? in : out);
  }
  Run<Exec, Code> run(exec, code, function, std::move(images), in, values);
  run.steps(0, function.steps.size());
  // A loop around the kernels may have no iterations; then the frame is unchanged.
  if (!run.has_written(out)) copy(exec, Plane<const std::uint8_t>(bytes_of(in)), bytes_of(out));
}

void reserve(std::vector<unsigned char> &buffer, std::size_t bytes) {
  if (buffer.size() < bytes) buffer.resize(bytes);
}
void reserve(cuda::DeviceBuffer &buffer, std::size_t bytes) {
  buffer.reserve(bytes);
}

}  // namespace

template <typename Exec>
ChainImage ChainMemory<Exec>::image(int number, int sample_bytes, int width, int height) {
  if (buffers_.size() <= static_cast<std::size_t>(number)) buffers_.resize(number + 1);
  const long long stride =
      (static_cast<long long>(width) * sample_bytes + kRowUnit - 1) / kRowUnit * kRowUnit;
  reserve(buffers_[number], static_cast<std::size_t>(stride) * height);
  return {.data = buffers_[number].data(),
          .stride = stride,
          .width = width,
          .height = height,
          .sample_bytes = sample_bytes};
}
template class ChainMemory<Cpu>;
template class ChainMemory<Cuda>;

void run_chain(Cpu &cpu, SharedObject &code, const ManifestFunction &function,
               ChainMemory<Cpu> &memory, ChainImage in, ChainImage out,
               const std::map<std::string, double> &values) {
  run_steps(cpu, code, function, memory, in, out, values);
}
void run_chain(Cuda &cuda, GpuModule &code, const ManifestFunction &function,
               ChainMemory<Cuda> &memory, ChainImage in, ChainImage out,
               const std::map<std::string, double> &values) {
  run_steps(cuda, code, function, memory, in, out, values);
}

}  // namespace cudascan::gswo
