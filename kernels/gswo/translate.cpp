// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/gswo/translate.h"

#include <cstdlib>
#include <sstream>

#include "common/error.h"
#include "kernels/gswo/child_process.h"
#include "kernels/gswo/code_cache.h"
#include "kernels/gswo/compile.h"
#include "kernels/gswo/digest.h"
#include "kernels/gswo/private_folder.h"
#include "kernels/gswo/program_file.h"

namespace cudascan::gswo {
namespace {

constexpr char kRemedy[] =
    "; build gst-cudascan where Clang's libraries are (Debian: llvm-dev libclang-dev "
    "libclang-cpp-dev), or "
    "set the environment variable CUDASCAN_GSWO_CC to the path of gswo-cc";

ProgramFile find_translator(const std::string &source) {
  if (const char *chosen = std::getenv("CUDASCAN_GSWO_CC"); chosen && *chosen) {
    if (const auto found = find_program(chosen)) return *found;
    throw Error(std::string("gswo-cc ") + chosen +
                ", which the environment variable CUDASCAN_GSWO_CC names, is not a program that "
                "can be run; "
                "set it to the path of gswo-cc");
  }
  for (const char *name : {"gswo-cc", GSWO_CC_INSTALLED})
    if (const auto found = find_program(name)) return *found;
  throw Error("source = " + source +
              ": it has pragmas, which gswo-cc translates, and that was not found" + kRemedy);
}

/// gswo-cc sees the file in a folder of its own.
std::string in_users_terms(std::string text, const std::string &path, const std::string &name) {
  for (auto at = text.find(path); at != std::string::npos; at = text.find(path, at + name.size()))
    text.replace(at, path.size(), name);
  return text;
}

/// What a file is called in the folder: what follows its name decides between C and C++.
std::string file_name(const std::string &name) {
  const auto slash = name.rfind('/');
  const std::string file = slash == std::string::npos ? name : name.substr(slash + 1);
  return file.empty() || file[0] == '-' || file[0] == '.' ? "source.cpp" : file;
}

std::string run(const ProgramFile &translator, const SourceText &source,
                const std::vector<std::string> &options) {
  const PrivateFolder folder;
  const std::string path = folder.path() + "/" + file_name(source.name);
  folder.write(file_name(source.name), source.text);
  std::vector<std::string> program{translator.path};
  program.insert(program.end(), options.begin(), options.end());
  program.insert(program.end(), {"-o", folder.path() + "/generated/filter.cu", path});
  folder.write("generated/filter.cu", "");
  const ProcessResult result = run_program(program, folder.path(), {});
  const std::string said = in_users_terms(result.messages, path, source.name);
  using End = ProcessResult::End;
  if (result.end == End::exited && result.code == 0)
    return in_users_terms(folder.read("generated/filter.cu"), path, source.name);
  if (result.end == End::exited && result.code == 1 && !said.empty()) throw BadSetting(said);
  throw Error("gswo-cc " + translator.path +
              (result.end == End::timed_out ? " was stopped: it took too long for "
                                            : " crashed or ran out of memory at ") +
              source.name + "; make the code simpler" + (said.empty() ? "" : "\n" + said));
}

}  // namespace

bool has_pragmas(const std::string &text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word, pragma;
    words >> word;
    if (word == "#") words >> pragma;
    if (word != "#pragma" && pragma != "pragma") continue;
    words >> word;
    if (word == "gswo" || word.rfind("parallel", 0) == 0) return true;
  }
  return false;
}

std::string translate(const SourceText &source, const std::vector<std::string> &options,
                      const CodeOptions &code_options) {
  const ProgramFile translator = find_translator(source.name);
  Digest digest;
  digest.add("translate").add(translator.version).add(source.name).add(source.text);
  for (const std::string &option : options) digest.add(option);
  return CodeCache(code_options.cache_dir).find_or_make(digest.hex(), [&] {
    return run(translator, source, options);
  });
}

}  // namespace cudascan::gswo
