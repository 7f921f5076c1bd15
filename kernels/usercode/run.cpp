// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/usercode/run.h"

#include <cstring>
#include <map>

#include "kernels/base/refuse.h"
#include "kernels/usercode/cache.h"
#include "kernels/usercode/replace_file.h"
#include "kernels/usercode/tuning.h"

namespace cudascan::gswo {
namespace {

void write_cuda(const std::string &path, const std::string &text) {
  if (const int error = replace_file(path, text))
    refuse("emit-cuda = ", path, ": ", std::strerror(error), "; give the path of a writable file");
}

/// Writes the code in use if that is requested and not yet done.
template <typename Exec>
void emit(Exec &exec, const UserFilterParams &p) {
  FilterState<Exec> &state = state_of(exec);
  const auto &loaded = state.loaded.front();
  if (p.emit_cuda.empty()) {
    state.emitted = {};
  } else if (state.emitted.first != p.emit_cuda || state.emitted.second != loaded.key) {
    write_cuda(p.emit_cuda, loaded.built->told.cuda_source);
    state.emitted = {p.emit_cuda, loaded.key};
  }
}

std::vector<float> real_constants(const UserFilterParams &p) {
  std::vector<float> values;
  for (const UserFilterConstant &constant : p.constants)
    if (const auto *value = std::get_if<double>(&constant.value))
      values.push_back(static_cast<float>(*value));
  return values;
}

/// Calls set(symbol, value) for the real numbers whose values have changed.
template <typename Code, typename Set>
void set_constants(LoadedFilter<Code> &loaded, const UserFilterParams &p, Set set) {
  const std::vector<float> values = real_constants(p);
  if (values == loaded.constants) return;
  const std::vector<std::string> symbols = real_constant_symbols(p.constants);
  for (std::size_t i = 0; i < values.size(); ++i) set(symbols[i].c_str(), values[i]);
  loaded.constants = values;
}

template <typename T>
Frame frame_of(Plane<T> plane) {
  return {const_cast<void *>(static_cast<const void *>(plane.data)), plane.stride, plane.width,
          plane.height, 0};
}

/// Runs a translated filter, if it is one.
template <typename Exec, typename Code>
bool run_translated(Exec &exec, LoadedFilter<Code> &loaded, const Frame &in, const Frame &out,
                    int sample_bytes, const UserFilterParams &p) {
  if (!loaded.built->chain) return false;
  std::map<std::string, double> values;
  for (const UserFilterConstant &constant : p.constants)
    values[constant.name] =
        std::visit([](auto value) { return static_cast<double>(value); }, constant.value);
  const auto image = [&](const Frame &frame) {
    return ChainImage{.data = frame.data,
                      .stride = frame.stride,
                      .width = frame.width,
                      .height = frame.height,
                      .texture = frame.texture,
                      .sample_bytes = sample_bytes};
  };
  run_chain(exec, loaded.code, *loaded.built->chain, state_of(exec).memory, image(in), image(out),
            values);
  return true;
}

template <typename Exec>
bool prepare_on(Exec &exec, const FilterTarget &target, const UserFilterParams &p) {
  const auto wanted = choose(exec, target, p);
  return (wanted->variants.size() == 1 && is_loaded(exec, wanted->variants.front())) ||
         is_ready(exec, *wanted);
}

template <typename Exec>
std::shared_ptr<const UserFilterCode> latest_code(Exec &exec) {
  const auto &loaded = state_of(exec).loaded;
  if (loaded.empty()) return nullptr;
  const std::shared_ptr<const Built> &built = loaded.front().built;
  return {built, &built->told};
}

template <typename Exec>
std::string take_warning_of(Exec &exec) {
  return std::exchange(state_of(exec).warning, {});
}

/// The planes of a filter.
template <typename Exec, typename T>
void make_planes(Exec &exec, const WindowPlanes &planes, [[maybe_unused]] const Mask &mask,
                 Plane<const T> in, const PlaneMaker<T> &maker, Frame *to) {
  int number = 0;
  const auto next = [&]<typename E>(Plane<E> &plane) {
    const ChainImage image = state_of(exec).planes.image(number, sizeof(E), in.width, in.height);
    plane = {static_cast<E *>(image.data), in.width, in.height,
             static_cast<std::ptrdiff_t>(image.stride)};
    to[number++] = frame_of(plane);
  };
  const auto next_levels = [&] {
    Plane<T> plane{};
    next(plane);
    plane.maximum = in.maximum;
    return plane;
  };
  for (const WindowPlane which : {kMinPlane, kMaxPlane, kMedianPlane})
    if (planes.has(which)) maker.make(which, next_levels());
  for (const RankPlane &rank : planes.ranks) maker.make(rank, next_levels());
  Plane<std::uint32_t> sums{};
  Plane<WindowSquares<T>> squares{};
  if (planes.has(kSumPlane)) next(sums);
  if (planes.has(kSquaresPlane)) next(squares);
  if (sums.data) maker.make(sums, squares);
  if constexpr (std::is_same_v<Exec, Cpu>) {
    Plane<std::uint16_t> counts{};
    if (planes.has(kCountPlane)) next(counts);
    if (counts.data) count_clipped(exec, mask, counts);
  }
}

/// Runs a program.
void run_program(Cpu &cpu, const Program &program, const Input &in, const Frame &out,
                 const UserFilterParams &p, int sample_bytes) {
  auto &loaded = load(cpu, program);
  if (run_translated(cpu, loaded, in.frame, out, sample_bytes, p)) return;
  const auto filter = reinterpret_cast<CpuEntryPoint *>(loaded.code.symbol(kEntryPoint));
  set_constants(loaded, p, [&](const char *symbol, float value) {
    if (void *variable = loaded.code.symbol(symbol)) *static_cast<float *>(variable) = value;
  });
  cpu.for_bands(in.frame.height, 8, [&](int begin, int end) { filter(&in, &out, begin, end); });
}

void run_program(Cuda &cuda, const Program &program, const Input &in, const Frame &out,
                 const UserFilterParams &p, int sample_bytes) {
  auto &loaded = load(cuda, program);
  const FilterLaunch &launch = loaded.built->launch;
  Input from = in;
  Frame &frame = from.frame, to = out;
  if (launch.reads == UserFilterReads::texture)
    frame.texture = state_of(cuda).textures.of(frame.data, frame.stride, frame.width, frame.height,
                                               sample_bytes);
  if (run_translated(cuda, loaded, frame, to, sample_bytes, p)) return;
  set_constants(loaded, p, [&](const char *symbol, float value) {
    loaded.code.set_global(symbol, &value, sizeof(value), cuda.stream());
  });
  void *args[] = {&from, &to};
  const auto [columns, rows] = launch.grid(frame.width, frame.height);
  loaded.code.launch(kEntryPoint, columns, rows, launch.block_width(), launch.block_height(),
                     cuda.stream(), args);
}

/// Keeps the fastest of the variants: the first one, unless another is faster by more than a
/// measurement may be wrong.
void tune(Cpu &, WantedFilter &, const std::function<void(const Program &)> &) {}
void tune(Cuda &cuda, WantedFilter &wanted, const std::function<void(const Program &)> &run) {
  is_ready(cuda, wanted);  // so that they are compiled in parallel
  constexpr float kClearly = 0.97f;
  std::size_t fastest = 0;
  float shortest = 0;
  for (std::size_t i = 0; i < wanted.variants.size(); ++i) {
    try {
      const float time = shortest_time(cuda.stream(), [&] { run(wanted.variants[i]); });
      if (i == 0 || time < (fastest == 0 ? kClearly * shortest : shortest)) {
        fastest = i;
        shortest = time;
      }
    } catch (const Error &) {
      if (i == 0) throw;  // the other variants may need more than this GPU has
    }
  }
  remember_variant(wanted.variants, fastest, code_options(wanted.params).cache_dir);
  wanted.variants = {wanted.variants[fastest]};
}

template <typename Exec, typename T>
void run_on(Exec &exec, Plane<const T> in, Plane<T> out, const FilterTarget &target,
            const UserFilterParams &p, const PlaneMaker<T> &maker) {
  const auto wanted = choose(exec, target, p);
  const Frame to = frame_of(out);
  Input from{frame_of(in), {}};
  make_planes(exec, wanted->variants.front().planes, target.mask, in, maker, from.planes);
  const auto run = [&](const Program &program) {
    run_program(exec, program, from, to, p, sizeof(T));
  };
  if (wanted->variants.size() > 1) tune(exec, *wanted, run);
  run(wanted->variants.front());
  emit(exec, p);
}

}  // namespace

bool prepare_filter(Cpu &cpu, const FilterTarget &target, const UserFilterParams &p) {
  return prepare_on(cpu, target, p);
}
bool prepare_filter(Cuda &cuda, const FilterTarget &target, const UserFilterParams &p) {
  return prepare_on(cuda, target, p);
}

template <typename T>
void run_filter(Cpu &cpu, Plane<const T> in, Plane<T> out, const FilterTarget &target,
                const UserFilterParams &p, const PlaneMaker<T> &maker) {
  run_on(cpu, in, out, target, p, maker);
}
template <typename T>
void run_filter(Cuda &cuda, Plane<const T> in, Plane<T> out, const FilterTarget &target,
                const UserFilterParams &p, const PlaneMaker<T> &maker) {
  run_on(cuda, in, out, target, p, maker);
}

template void run_filter(Cpu &, Plane<const std::uint8_t>, Plane<std::uint8_t>,
                         const FilterTarget &, const UserFilterParams &,
                         const PlaneMaker<std::uint8_t> &);
template void run_filter(Cpu &, Plane<const std::uint16_t>, Plane<std::uint16_t>,
                         const FilterTarget &, const UserFilterParams &,
                         const PlaneMaker<std::uint16_t> &);
template void run_filter(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>,
                         const FilterTarget &, const UserFilterParams &,
                         const PlaneMaker<std::uint8_t> &);
template void run_filter(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>,
                         const FilterTarget &, const UserFilterParams &,
                         const PlaneMaker<std::uint16_t> &);

}  // namespace cudascan::gswo

namespace cudascan {

std::string take_warning(Cpu &cpu) {
  return gswo::take_warning_of(cpu);
}
std::string take_warning(Cuda &cuda) {
  return gswo::take_warning_of(cuda);
}
std::shared_ptr<const UserFilterCode> code_of(Cpu &cpu) {
  return gswo::latest_code(cpu);
}
std::shared_ptr<const UserFilterCode> code_of(Cuda &cuda) {
  return gswo::latest_code(cuda);
}

}  // namespace cudascan
