// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/usercode/custom.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <list>
#include <map>
#include <optional>

#include "kernels/base/refuse.h"
#include "kernels/usercode/chain.h"
#include "kernels/usercode/filter_program.h"
#include "kernels/usercode/formula.h"
#include "kernels/usercode/gpu_module.h"
#include "kernels/usercode/replace_file.h"
#include "kernels/usercode/shared_object.h"
#include "kernels/usercode/source_file.h"
#include "kernels/usercode/tuning.h"

namespace cudascan::gswo {
namespace {

constexpr std::size_t kMostLoaded = 4;

bool is_name(const std::string &text) {
  const auto is_letter = [](char c) {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || c == '_';
  };
  return !text.empty() && text.size() <= 64 && is_letter(text[0]) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_letter(c) || ('0' <= c && c <= '9'); });
}

/// Code that was loaded by one executor.
template <typename Code>
struct Loaded {
  std::string key;  // of the program
  std::shared_ptr<const Built> built;
  Code code;
  std::vector<float> constants;  // as the code has them now

  Loaded(const std::string &key, std::shared_ptr<const Built> built)
      : key(key), built(std::move(built)), code(this->built->code) {}
};

template <typename Exec>
using CodeOf = std::conditional_t<std::is_same_v<Exec, Cpu>, SharedObject, GpuModule>;

/// The settings that code depends on: all but the values of real numbers.
UserFilterParams of_code(UserFilterParams params) {
  for (UserFilterConstant &constant : params.constants)
    if (std::holds_alternative<double>(constant.value)) constant.value = 0.0;
  return params;
}

/// A filter that is to be compiled, and what it was made from.
struct Wanted {
  UserFilterParams params;  // of_code()
  FilterTarget target;
  std::string text;
  std::vector<Program> variants;  ///< of which the fastest has to be found, or one
};

/// What an executor keeps.
template <typename Exec>
struct State {
  std::list<Loaded<CodeOf<Exec>>> loaded;     // latest first
  std::shared_ptr<Wanted> latest, changed;    ///< in use; of what the file has become
  std::map<std::string, Compiled> under_way;  // by key
  std::optional<SourceFile> file;
  std::string warning;
  std::pair<std::string, std::string> emitted;  // the file that code was written to, and its key
  ChainMemory<Exec> memory, planes;
  std::conditional_t<std::is_same_v<Exec, Cuda>, Textures, std::monostate> textures;
  std::optional<int> architecture;  ///< of its GPU, as soon as it was needed
};

template <typename Exec>
State<Exec> &state_of(Exec &exec) {
  static const char key = 0;
  std::shared_ptr<void> &kept = exec.kept(&key);
  if (!kept) kept = std::make_shared<State<Exec>>();
  return *static_cast<State<Exec> *>(kept.get());
}

int architecture_of(Cpu &) {
  return 0;
}
int architecture_of(Cuda &cuda) {
  std::optional<int> &known = state_of(cuda).architecture;
  if (!known) known = gpu_architecture();
  return *known;
}

void write_cuda(const std::string &path, const std::string &text) {
  if (const int error = replace_file(path, text))
    refuse("emit-cuda = ", path, ": ", std::strerror(error),
           "; give the path of a file that can be written");
}

std::vector<Program> variants_of(const UserFilterParams &p, const std::string &text,
                                 const FilterTarget &target) {
  if (!p.tune || !target.architecture) return {filter_program(p, text, target)};
  std::vector<Program> variants = tuning_variants(p, text, target);
  if (const auto fastest = remembered_variant(variants, code_options(p).cache_dir))
    return {variants[*fastest]};
  return variants;
}

/// @param latest  what was wanted last time, which is replaced if it is not that
std::shared_ptr<Wanted> want(std::shared_ptr<Wanted> &latest, const UserFilterParams &p,
                             const FilterTarget &target, const std::string &text) {
  const UserFilterParams params = of_code(p);
  if (latest && latest->params == params && latest->target == target && latest->text == text)
    return latest;
  return latest = std::make_shared<Wanted>(
             Wanted{params, target, text, variants_of(params, text, target)});
}

/// A program that is being compiled, at the latest from now on. It goes on as long as the executor
/// lives.
template <typename Exec>
Compiled begin(Exec &exec, const Program &program) {
  auto &under_way = state_of(exec).under_way;
  std::erase_if(under_way, [](const auto &one) { return is_ready(one.second); });
  const auto known = under_way.find(program.key);
  if (known != under_way.end()) return known->second;
  const Compiled compiled = compile(program);
  under_way.emplace(program.key, compiled);
  return compiled;
}

/// Begins to compile what is not yet compiled.
template <typename Exec>
bool is_ready(Exec &exec, const Wanted &wanted) {
  bool ready = true;
  for (const Program &program : wanted.variants) ready = is_ready(begin(exec, program)) && ready;
  return ready;
}

/// The filter to use: that of a file may be an older one, as long as what is in it now is being compiled,
/// or when that cannot be compiled.
template <typename Exec>
std::shared_ptr<Wanted> choose(Exec &exec, FilterTarget target, const UserFilterParams &p) {
  State<Exec> &state = state_of(exec);
  target.architecture = architecture_of(exec);
  const auto with = [&](const std::string &text) { return want(state.latest, p, target, text); };
  if (p.source.empty()) return with(p.expression);
  if (!state.file || state.file->path() != p.source) state.file.emplace(p.source);
  SourceFile &file = *state.file;
  if (!p.reload) return with(file.text());
  try {
    file.look();
    if (!file.has_changed()) return with(file.text());
    const auto changed = want(state.changed, p, target, file.changed_text());
    if (!is_ready(exec, *changed)) return with(file.text());
    gswo::built(begin(exec, changed->variants.front()));
    file.accept();
    return state.latest = changed;
  } catch (const Error &e) {
    state.warning += (state.warning.empty() ? "" : "\n") + std::string(e.what());
    file.reject();
    return with(file.text());
  }
}

template <typename Exec>
auto find_loaded(Exec &exec, const Program &program) {
  auto &loaded = state_of(exec).loaded;
  return std::find_if(loaded.begin(), loaded.end(),
                      [&](const auto &l) { return l.key == program.key; });
}

/// The code of a program, in front of all that is loaded.
template <typename Exec>
auto &load(Exec &exec, const Program &program) {
  auto &loaded = state_of(exec).loaded;
  const auto found = find_loaded(exec, program);
  if (found != loaded.end()) {
    loaded.splice(loaded.begin(), loaded, found);
  } else {
    const auto code = gswo::built(begin(exec, program));
    if (loaded.size() >= kMostLoaded) {
      exec.synchronize();  // it may still be at work
      loaded.pop_back();
    }
    loaded.emplace_front(program.key, code);
  }
  return loaded.front();
}

/// Writes the code in use, if it is to be written and was not.
template <typename Exec>
void emit(Exec &exec, const UserFilterParams &p) {
  State<Exec> &state = state_of(exec);
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

/// Calls set(symbol, value) for the real numbers that are not yet as they should be.
template <typename Code, typename Set>
void set_constants(Loaded<Code> &loaded, const UserFilterParams &p, Set set) {
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
bool run_translated(Exec &exec, Loaded<Code> &loaded, const Frame &in, const Frame &out,
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
  const bool is_loaded = wanted->variants.size() == 1 &&
                         find_loaded(exec, wanted->variants.front()) != state_of(exec).loaded.end();
  return is_loaded || is_ready(exec, *wanted);
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

}  // namespace

namespace {

void check_launch(const UserFilterParams &p) {
  const auto check = [](const char *name, int value, int most) {
    if (value < 0 || value > most)
      refuse(name, " = ", value, ": must be from 1 to ", most, ", or 0 for the best known");
  };
  check("tile-width", p.tile_width, 1024);
  check("tile-height", p.tile_height, 1024);
  check("chunk-height", p.chunk_height, 64);
  if (p.chunk_width != 0 && p.chunk_width != 1 && p.chunk_width != 2 && p.chunk_width != 4)
    refuse("chunk-width = ", p.chunk_width, ": must be 1, 2 or 4, or 0 for the best known");
  if (p.chunk_height && p.tile_height % p.chunk_height != 0)
    refuse("chunk-height = ", p.chunk_height, ": tile-height must be a multiple of it, and is ",
           p.tile_height, "; set one of them to 0 or to another value");
}

}  // namespace

void check_filter(const UserFilterParams &p) {
  if (p.expression.empty() == p.source.empty())
    refuse(p.expression.empty()
               ? "operator = custom: expression and source are empty; set one of them"
               : "expression and source are both set; set one of them to \"\"");
  check_formula(p.expression);
  if (!is_name(p.function))
    refuse("function = ", p.function, ": must be the name of a function in the file of source");
  for (const UserFilterConstant &constant : p.constants)
    if (!is_name(constant.name))
      refuse("params: \"", constant.name,
             "\" is no name for a constant; use letters, digits and underscores");
  if (!p.emit_cuda.empty() && p.emit_cuda == p.source)
    refuse("emit-cuda = ", p.emit_cuda, ": that is source itself; give another path");
  check_launch(p);
}

namespace {

/// The planes that a filter is given.
template <typename Exec, typename T>
void make_planes(Exec &exec, unsigned planes, Plane<const T> in, const MakePlane<T> &make_plane,
                 Frame *to) {
  int number = 0;
  for (const WindowPlane which : {kMinPlane, kMaxPlane, kMedianPlane}) {
    if (!(planes & which)) continue;
    const ChainImage image = state_of(exec).planes.image(number, sizeof(T), in.width, in.height);
    const Plane<T> plane{static_cast<T *>(image.data), in.width, in.height,
                         static_cast<std::ptrdiff_t>(image.stride), in.maximum};
    make_plane(which, plane);
    to[number++] = frame_of(plane);
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

/// Leaves the fastest of the variants.
void tune(Cpu &, Wanted &, const std::function<void(const Program &)> &) {}
void tune(Cuda &cuda, Wanted &wanted, const std::function<void(const Program &)> &run) {
  is_ready(cuda, wanted);  // so that they are compiled side by side
  std::size_t fastest = 0;
  float shortest = 0;
  for (std::size_t i = 0; i < wanted.variants.size(); ++i) {
    try {
      const float time = shortest_time(cuda.stream(), [&] { run(wanted.variants[i]); });
      if (i == 0 || time < shortest) {
        fastest = i;
        shortest = time;
      }
    } catch (const Error &) {
      if (i == 0) throw;  // others may ask for more than this GPU has
    }
  }
  remember_variant(wanted.variants, fastest, code_options(wanted.params).cache_dir);
  wanted.variants = {wanted.variants[fastest]};
}

template <typename Exec, typename T>
void run_on(Exec &exec, Plane<const T> in, Plane<T> out, const FilterTarget &target,
            const UserFilterParams &p, const MakePlane<T> &make_plane) {
  const auto wanted = choose(exec, target, p);
  const Frame to = frame_of(out);
  Input from{frame_of(in), {}};
  make_planes(exec, wanted->variants.front().planes, in, make_plane, from.planes);
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
                const UserFilterParams &p, const MakePlane<T> &make_plane) {
  run_on(cpu, in, out, target, p, make_plane);
}
template <typename T>
void run_filter(Cuda &cuda, Plane<const T> in, Plane<T> out, const FilterTarget &target,
                const UserFilterParams &p, const MakePlane<T> &make_plane) {
  run_on(cuda, in, out, target, p, make_plane);
}

template void run_filter(Cpu &, Plane<const std::uint8_t>, Plane<std::uint8_t>,
                         const FilterTarget &, const UserFilterParams &,
                         const MakePlane<std::uint8_t> &);
template void run_filter(Cpu &, Plane<const std::uint16_t>, Plane<std::uint16_t>,
                         const FilterTarget &, const UserFilterParams &,
                         const MakePlane<std::uint16_t> &);
template void run_filter(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>,
                         const FilterTarget &, const UserFilterParams &,
                         const MakePlane<std::uint8_t> &);
template void run_filter(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>,
                         const FilterTarget &, const UserFilterParams &,
                         const MakePlane<std::uint16_t> &);

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
