// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/usercode/cache.h"

#include <algorithm>

#include "common/error.h"
#include "kernels/usercode/tuning.h"

namespace cudascan::gswo {

template <typename Exec>
FilterState<Exec> &state_of(Exec &exec) {
  static const char key = 0;
  std::shared_ptr<void> &kept = exec.kept(&key);
  if (!kept) kept = std::make_shared<FilterState<Exec>>();
  return *static_cast<FilterState<Exec> *>(kept.get());
}

namespace {

constexpr std::size_t kMostLoaded = 4;

/// The settings that code depends on: all except the values of real numbers.
UserFilterParams of_code(UserFilterParams params) {
  for (UserFilterConstant &constant : params.constants)
    if (std::holds_alternative<double>(constant.value)) constant.value = 0.0;
  return params;
}

int architecture_of(Cpu &) {
  return 0;
}
int architecture_of(Cuda &cuda) {
  std::optional<int> &known = state_of(cuda).architecture;
  if (!known) known = gpu_architecture();
  return *known;
}

std::vector<Program> variants_of(const UserFilterParams &p, const std::string &text,
                                 const FilterTarget &target) {
  if (!p.tune || !target.architecture) return {filter_program(p, text, target)};
  std::vector<Program> variants = tuning_variants(p, text, target);
  if (const auto fastest = remembered_variant(variants, code_options(p).cache_dir))
    return {variants[*fastest]};
  return variants;
}

/// @param latest  the last wanted filter; replaced if it differs
std::shared_ptr<WantedFilter> want(std::shared_ptr<WantedFilter> &latest, const UserFilterParams &p,
                                   const FilterTarget &target, const std::string &text) {
  const UserFilterParams params = of_code(p);
  if (latest && latest->params == params && latest->target == target && latest->text == text)
    return latest;
  return latest = std::make_shared<WantedFilter>(
             WantedFilter{params, target, text, variants_of(params, text, target)});
}

/// A program that is being compiled, at the latest from now on. Compilation continues as long as
/// the executor lives.
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

template <typename Exec>
auto find_loaded(Exec &exec, const Program &program) {
  auto &loaded = state_of(exec).loaded;
  return std::find_if(loaded.begin(), loaded.end(),
                      [&](const auto &l) { return l.key == program.key; });
}

}  // namespace

template <typename Exec>
bool is_ready(Exec &exec, const WantedFilter &wanted) {
  bool ready = true;
  for (const Program &program : wanted.variants) ready = is_ready(begin(exec, program)) && ready;
  return ready;
}

template <typename Exec>
std::shared_ptr<WantedFilter> choose(Exec &exec, FilterTarget target, const UserFilterParams &p) {
  FilterState<Exec> &state = state_of(exec);
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
bool is_loaded(Exec &exec, const Program &program) {
  return find_loaded(exec, program) != state_of(exec).loaded.end();
}

template <typename Exec>
LoadedFilter<CodeOf<Exec>> &load(Exec &exec, const Program &program) {
  auto &loaded = state_of(exec).loaded;
  const auto found = find_loaded(exec, program);
  if (found != loaded.end()) {
    loaded.splice(loaded.begin(), loaded, found);
  } else {
    const auto code = gswo::built(begin(exec, program));
    if (loaded.size() >= kMostLoaded) {
      exec.synchronize();  // it may still be running
      loaded.pop_back();
    }
    loaded.emplace_front(program.key, code);
  }
  return loaded.front();
}

template FilterState<Cpu> &state_of(Cpu &);
template std::shared_ptr<WantedFilter> choose(Cpu &, FilterTarget, const UserFilterParams &);
template bool is_ready(Cpu &, const WantedFilter &);
template bool is_loaded(Cpu &, const Program &);
template LoadedFilter<CodeOf<Cpu>> &load(Cpu &, const Program &);
template FilterState<Cuda> &state_of(Cuda &);
template std::shared_ptr<WantedFilter> choose(Cuda &, FilterTarget, const UserFilterParams &);
template bool is_ready(Cuda &, const WantedFilter &);
template bool is_loaded(Cuda &, const Program &);
template LoadedFilter<CodeOf<Cuda>> &load(Cuda &, const Program &);

}  // namespace cudascan::gswo
