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

namespace cudascan::swo {
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
  std::shared_ptr<const gswo::Built> built;
  Code code;
  std::vector<float> constants;  // as the code has them now

  Loaded(const std::string &key, std::shared_ptr<const gswo::Built> built)
      : key(key), built(std::move(built)), code(this->built->code) {}
};

template <typename Exec>
using CodeOf = std::conditional_t<std::is_same_v<Exec, Cpu>, gswo::SharedObject, gswo::GpuModule>;

/// The settings that code depends on: all but the values of real numbers.
SwoFilterParams of_code(SwoFilterParams params) {
  for (SwoFilterConstant &constant : params.constants)
    if (std::holds_alternative<double>(constant.value)) constant.value = 0.0;
  return params;
}

/// A filter that is to be compiled, and what it was made from.
struct Wanted {
  SwoFilterParams params;  // of_code()
  unsigned maximum;
  int sample_bytes;
  std::string text;
  std::vector<gswo::Program> variants;  ///< of which the fastest has to be found, or one
};

/// What an executor keeps.
template <typename Exec>
struct State {
  std::list<Loaded<CodeOf<Exec>>> loaded;           // latest first
  std::shared_ptr<Wanted> latest, changed;          ///< in use; of what the file has become
  std::map<std::string, gswo::Compiled> under_way;  // by key
  std::optional<gswo::SourceFile> file;
  std::string warning;
  std::pair<std::string, std::string> emitted;  // the file that code was written to, and its key
  gswo::ChainMemory<Exec> memory, planes;
  std::conditional_t<std::is_same_v<Exec, Cuda>, gswo::Textures, std::monostate> textures;
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
int architecture_of(Cuda &) {
  return gswo::gpu_architecture();
}

void write_cuda(const std::string &path, const std::string &text) {
  if (const int error = gswo::replace_file(path, text))
    refuse("emit-cuda = ", path, ": ", std::strerror(error),
           "; give the path of a file that can be written");
}

std::vector<gswo::Program> variants_of(const SwoFilterParams &p, const std::string &text,
                                       const gswo::FilterTarget &target) {
  if (!p.tune || !target.architecture) return {filter_program(p, text, target)};
  std::vector<gswo::Program> variants = tuning_variants(p, text, target);
  if (const auto fastest = gswo::remembered_variant(variants, gswo::code_options(p).cache_dir))
    return {variants[*fastest]};
  return variants;
}

/// @param latest  what was wanted last time, which is replaced if it is not that
template <typename Exec>
std::shared_ptr<Wanted> want(Exec &exec, std::shared_ptr<Wanted> &latest, const SwoFilterParams &p,
                             const Job &job, int sample_bytes, const std::string &text) {
  const SwoFilterParams params = of_code(p);
  if (latest && latest->params == params && latest->maximum == job.maximum &&
      latest->sample_bytes == sample_bytes && latest->text == text)
    return latest;
  const gswo::FilterTarget target{job, sample_bytes, architecture_of(exec)};
  return latest = std::make_shared<Wanted>(
             Wanted{params, job.maximum, sample_bytes, text, variants_of(params, text, target)});
}

/// A program that is being compiled, at the latest from now on. It goes on as long as the executor
/// lives.
template <typename Exec>
gswo::Compiled begin(Exec &exec, const gswo::Program &program) {
  auto &under_way = state_of(exec).under_way;
  std::erase_if(under_way, [](const auto &one) { return gswo::is_ready(one.second); });
  const auto known = under_way.find(program.key);
  if (known != under_way.end()) return known->second;
  const gswo::Compiled compiled = gswo::compile(program);
  under_way.emplace(program.key, compiled);
  return compiled;
}

/// Begins to compile what is not yet compiled.
template <typename Exec>
bool is_ready(Exec &exec, const Wanted &wanted) {
  bool ready = true;
  for (const gswo::Program &program : wanted.variants)
    ready = gswo::is_ready(begin(exec, program)) && ready;
  return ready;
}

/// The filter to use: that of a file may be an older one, as long as what is in it now is being
/// compiled, or when that cannot be compiled.
template <typename Exec>
std::shared_ptr<Wanted> choose(Exec &exec, const SwoFilterParams &p, const Job &job,
                               int sample_bytes) {
  State<Exec> &state = state_of(exec);
  const auto with = [&](const std::string &text) {
    return want(exec, state.latest, p, job, sample_bytes, text);
  };
  if (p.source.empty()) return with(p.expression);
  if (!state.file || state.file->path() != p.source) state.file.emplace(p.source);
  gswo::SourceFile &file = *state.file;
  if (!p.reload) return with(file.text());
  try {
    file.look();
    if (!file.has_changed()) return with(file.text());
    const auto changed = want(exec, state.changed, p, job, sample_bytes, file.changed_text());
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
auto find_loaded(Exec &exec, const gswo::Program &program) {
  auto &loaded = state_of(exec).loaded;
  return std::find_if(loaded.begin(), loaded.end(),
                      [&](const auto &l) { return l.key == program.key; });
}

/// The code of a program, in front of all that is loaded.
template <typename Exec>
auto &load(Exec &exec, const gswo::Program &program) {
  auto &loaded = state_of(exec).loaded;
  const auto found = find_loaded(exec, program);
  if (found != loaded.end()) {
    loaded.splice(loaded.begin(), loaded, found);
  } else {
    const auto built = gswo::built(begin(exec, program));
    if (loaded.size() >= kMostLoaded) {
      exec.synchronize();  // it may still be at work
      loaded.pop_back();
    }
    loaded.emplace_front(program.key, built);
  }
  return loaded.front();
}

/// Writes the code in use, if it is to be written and was not.
template <typename Exec>
void emit(Exec &exec, const SwoFilterParams &p) {
  State<Exec> &state = state_of(exec);
  const auto &loaded = state.loaded.front();
  if (p.emit_cuda.empty()) {
    state.emitted = {};
  } else if (state.emitted.first != p.emit_cuda || state.emitted.second != loaded.key) {
    write_cuda(p.emit_cuda, loaded.built->told.cuda_source);
    state.emitted = {p.emit_cuda, loaded.key};
  }
}

std::vector<float> real_constants(const SwoFilterParams &p) {
  std::vector<float> values;
  for (const SwoFilterConstant &constant : p.constants)
    if (const auto *value = std::get_if<double>(&constant.value))
      values.push_back(static_cast<float>(*value));
  return values;
}

/// Calls set(symbol, value) for the real numbers that are not yet as they should be.
template <typename Code, typename Set>
void set_constants(Loaded<Code> &loaded, const SwoFilterParams &p, Set set) {
  const std::vector<float> values = real_constants(p);
  if (values == loaded.constants) return;
  const std::vector<std::string> symbols = gswo::real_constant_symbols(p.constants);
  for (std::size_t i = 0; i < values.size(); ++i) set(symbols[i].c_str(), values[i]);
  loaded.constants = values;
}

template <typename T>
gswo::Frame frame_of(Plane<T> plane) {
  return {const_cast<void *>(static_cast<const void *>(plane.data)), plane.stride, plane.width,
          plane.height, 0};
}

/// Runs a translated filter, if it is one.
template <typename Exec, typename Code>
bool run_translated(Exec &exec, Loaded<Code> &loaded, const gswo::Frame &in, const gswo::Frame &out,
                    int sample_bytes, const SwoFilterParams &p) {
  if (!loaded.built->chain) return false;
  std::map<std::string, double> values;
  for (const SwoFilterConstant &constant : p.constants)
    values[constant.name] =
        std::visit([](auto value) { return static_cast<double>(value); }, constant.value);
  const auto image = [&](const gswo::Frame &frame) {
    return gswo::ChainImage{.data = frame.data,
                            .stride = frame.stride,
                            .width = frame.width,
                            .height = frame.height,
                            .texture = frame.texture,
                            .sample_bytes = sample_bytes};
  };
  gswo::run_chain(exec, loaded.code, *loaded.built->chain, state_of(exec).memory, image(in),
                  image(out), values);
  return true;
}

template <typename Exec>
bool prepare_custom(Exec &exec, int sample_bytes, unsigned maximum, const SwoFilterParams &p) {
  if (p.op != SwoFilterOperator::custom) return true;
  try {
    const Job job = make_job(p, maximum, 1, 1, 1, 1, true);
    const auto wanted = choose(exec, p, job, sample_bytes);
    const bool is_loaded =
        wanted->variants.size() == 1 &&
        find_loaded(exec, wanted->variants.front()) != state_of(exec).loaded.end();
    return is_loaded || is_ready(exec, *wanted);
  } catch (const Error &) {
    return true;  // run() will say why
  }
}

template <typename Exec>
std::shared_ptr<const SwoFilterCode> latest_code(Exec &exec) {
  const auto &loaded = state_of(exec).loaded;
  if (loaded.empty()) return nullptr;
  const std::shared_ptr<const gswo::Built> &built = loaded.front().built;
  return {built, &built->told};
}

template <typename Exec>
std::string take_warning_of(Exec &exec) {
  return std::exchange(state_of(exec).warning, {});
}

}  // namespace

namespace {

void check_launch(const SwoFilterParams &p) {
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

void check_custom(const SwoFilterParams &p) {
  if (p.expression.empty() == p.source.empty())
    refuse(p.expression.empty()
               ? "operator = custom: expression and source are empty; set one of them"
               : "expression and source are both set; set one of them to \"\"");
  gswo::check_formula(p.expression);
  if (!is_name(p.function))
    refuse("function = ", p.function, ": must be the name of a function in the file of source");
  for (const SwoFilterConstant &constant : p.constants)
    if (!is_name(constant.name))
      refuse("params: \"", constant.name,
             "\" is no name for a constant; use letters, digits and underscores");
  if (!p.emit_cuda.empty() && p.emit_cuda == p.source)
    refuse("emit-cuda = ", p.emit_cuda, ": that is source itself; give another path");
  check_launch(p);
}

namespace {

/// The planes that a filter is given, made by the built-in operators.
template <typename Exec, typename T>
void make_planes(Exec &exec, unsigned planes, Plane<const T> in, const SwoFilterParams &p,
                 gswo::Frame *to) {
  int number = 0;
  const auto make = [&](gswo::WindowPlane which, SwoFilterOperator op) {
    if (!(planes & which)) return;
    SwoFilterParams params;
    params.op = op;
    params.window = p.window;
    params.window_width = p.window_width;
    params.window_height = p.window_height;
    params.shape = p.shape;
    params.border = p.border;
    params.border_value = p.border_value;
    const gswo::ChainImage image =
        state_of(exec).planes.image(number, sizeof(T), in.width, in.height);
    const Plane<T> plane{static_cast<T *>(image.data), in.width, in.height,
                         static_cast<std::ptrdiff_t>(image.stride), in.maximum};
    run(exec, in, plane, params);
    to[number++] = frame_of(plane);
  };
  make(gswo::kMinPlane, SwoFilterOperator::minimum);
  make(gswo::kMaxPlane, SwoFilterOperator::maximum);
  make(gswo::kMedianPlane, SwoFilterOperator::median);
}

/// Runs a program.
void run_program(Cpu &cpu, const gswo::Program &program, const gswo::Input &in,
                 const gswo::Frame &out, const SwoFilterParams &p, int sample_bytes) {
  auto &loaded = load(cpu, program);
  if (run_translated(cpu, loaded, in.frame, out, sample_bytes, p)) return;
  const auto filter =
      reinterpret_cast<gswo::CpuEntryPoint *>(loaded.code.symbol(gswo::kEntryPoint));
  set_constants(loaded, p, [&](const char *symbol, float value) {
    if (void *variable = loaded.code.symbol(symbol)) *static_cast<float *>(variable) = value;
  });
  cpu.for_bands(in.frame.height, 8, [&](int begin, int end) { filter(&in, &out, begin, end); });
}

void run_program(Cuda &cuda, const gswo::Program &program, const gswo::Input &in,
                 const gswo::Frame &out, const SwoFilterParams &p, int sample_bytes) {
  auto &loaded = load(cuda, program);
  const gswo::FilterLaunch &launch = loaded.built->launch;
  gswo::Input from = in;
  gswo::Frame &frame = from.frame, to = out;
  if (launch.reads == SwoFilterReads::texture)
    frame.texture = state_of(cuda).textures.of(frame.data, frame.stride, frame.width, frame.height,
                                               sample_bytes);
  if (run_translated(cuda, loaded, frame, to, sample_bytes, p)) return;
  set_constants(loaded, p, [&](const char *symbol, float value) {
    loaded.code.set_global(symbol, &value, sizeof(value), cuda.stream());
  });
  void *args[] = {&from, &to};
  const auto [columns, rows] = launch.grid(frame.width, frame.height);
  loaded.code.launch(gswo::kEntryPoint, columns, rows, launch.block_width(), launch.block_height(),
                     cuda.stream(), args);
}

/// Leaves the fastest of the variants.
void tune(Cpu &, Wanted &, const std::function<void(const gswo::Program &)> &) {}
void tune(Cuda &cuda, Wanted &wanted, const std::function<void(const gswo::Program &)> &run) {
  is_ready(cuda, wanted);  // so that they are compiled side by side
  std::size_t fastest = 0;
  float shortest = 0;
  for (std::size_t i = 0; i < wanted.variants.size(); ++i) {
    try {
      const float time = gswo::shortest_time(cuda.stream(), [&] { run(wanted.variants[i]); });
      if (i == 0 || time < shortest) {
        fastest = i;
        shortest = time;
      }
    } catch (const Error &) {
      if (i == 0) throw;  // others may ask for more than this GPU has
    }
  }
  gswo::remember_variant(wanted.variants, fastest, gswo::code_options(wanted.params).cache_dir);
  wanted.variants = {wanted.variants[fastest]};
}

template <typename Exec, typename T>
void run_custom(Exec &exec, Plane<const T> in, Plane<T> out, const Job &job,
                const SwoFilterParams &p) {
  const auto wanted = choose(exec, p, job, sizeof(T));
  const gswo::Frame to = frame_of(out);
  gswo::Input from{frame_of(in), {}};
  make_planes(exec, wanted->variants.front().planes, in, p, from.planes);
  const auto run = [&](const gswo::Program &program) {
    run_program(exec, program, from, to, p, sizeof(T));
  };
  if (wanted->variants.size() > 1) tune(exec, *wanted, run);
  run(wanted->variants.front());
  emit(exec, p);
}

}  // namespace

template <typename T>
void custom(Cpu &cpu, Plane<const T> in, Plane<T> out, const Job &job, const SwoFilterParams &p) {
  run_custom(cpu, in, out, job, p);
}

template <typename T>
void custom(Cuda &cuda, Plane<const T> in, Plane<T> out, const Job &job, const SwoFilterParams &p) {
  run_custom(cuda, in, out, job, p);
}

template void custom(Cpu &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const Job &,
                     const SwoFilterParams &);
template void custom(Cpu &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const Job &,
                     const SwoFilterParams &);
template void custom(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const Job &,
                     const SwoFilterParams &);
template void custom(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const Job &,
                     const SwoFilterParams &);

}  // namespace cudascan::swo

namespace cudascan {

bool prepare(Cpu &cpu, int sample_bytes, unsigned maximum, const SwoFilterParams &params) {
  return swo::prepare_custom(cpu, sample_bytes, maximum, params);
}
bool prepare(Cuda &cuda, int sample_bytes, unsigned maximum, const SwoFilterParams &params) {
  return swo::prepare_custom(cuda, sample_bytes, maximum, params);
}
std::string take_warning(Cpu &cpu) {
  return swo::take_warning_of(cpu);
}
std::string take_warning(Cuda &cuda) {
  return swo::take_warning_of(cuda);
}
std::shared_ptr<const SwoFilterCode> code_of(Cpu &cpu) {
  return swo::latest_code(cpu);
}
std::shared_ptr<const SwoFilterCode> code_of(Cuda &cuda) {
  return swo::latest_code(cuda);
}

}  // namespace cudascan
