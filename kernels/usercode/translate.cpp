// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/usercode/translate.h"

#include <sstream>

#include "common/error.h"
#include "kernels/usercode/child_process.h"
#include "kernels/usercode/code_cache.h"
#include "kernels/usercode/compile.h"
#include "kernels/usercode/digest.h"
#include "kernels/usercode/private_folder.h"
#include "kernels/usercode/program_file.h"
#include "kernels/userfilter.h"

namespace cudascan::gswo {
namespace {

ProgramFile find_translator(const std::string &source) {
  if (const auto found = find_gswo_cc()) return *found;
  throw Error(
      "source = " + source +
      ": it has pragmas, which gswo-cc translates, but gswo-cc was not found; build "
      "gst-cudascan where Clang's libraries are installed (Debian, Ubuntu: apt install llvm-dev "
      "libclang-dev libclang-cpp-dev), or set the environment variable CUDASCAN_GSWO_CC to "
      "the path of gswo-cc");
}

std::string last_part(const std::string &path) {
  return path.substr(path.rfind('/') + 1);
}

/// The name of a file for gswo-cc; its extension decides between C and C++.
std::string input_name(const std::string &source) {
  const std::string file = last_part(source);
  return "gswo-cc.in/" + (file.empty() || file[0] == '.' ? "source.cpp" : file);
}

/// The name of the generated parts in messages.
std::string output_name(const std::string &source) {
  const std::string file = last_part(source);
  const std::string stem = file.substr(0, file.rfind('.'));
  return (stem.empty() || stem[0] == '-' ? "source" : stem) + ".cu";
}

std::string replace_all(std::string text, const std::string &what, const std::string &with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

Translation run(const ProgramFile &translator, const SourceText &source,
                const std::vector<std::string> &options, const std::stop_token &stop) {
  const PrivateFolder folder;
  const std::string input = input_name(source.name), output = output_name(source.name);
  folder.write(input, source.text);
  std::vector<std::string> program{translator.path};
  program.insert(program.end(), options.begin(), options.end());
  program.insert(program.end(), {"-o", output, input});
  const ProcessResult result = run_program(program, folder.path(), {}, stop);
  check_not_stopped(stop);
  const auto in_users_terms = [&](const std::string &text) {
    return replace_all(text, input, source.name);
  };
  const std::string said = in_users_terms(result.messages);
  using End = ProcessResult::End;
  if (result.end == End::exited && result.code == 0)
    return {in_users_terms(folder.read(output)), said};
  if (result.end == End::exited && result.code == 1 && !said.empty()) throw BadSetting(said);
  throw Error("gswo-cc " + translator.path +
              (result.end == End::timed_out ? " was stopped: it took too long for "
                                            : " crashed or ran out of memory at ") +
              source.name + "; make the code simpler" + (said.empty() ? "" : "\n" + said));
}

/// Ends the notes before a text in the cache.
constexpr char kEndOfNotes = '\0';

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

Translation translate(const SourceText &source, const std::vector<std::string> &options,
                      const CodeOptions &code_options) {
  check_user_code();
  const ProgramFile translator = find_translator(source.name);
  Digest digest;
  // Only needed with a cache.
  if (!code_options.cache_dir.empty()) digest.add(version_of_gswo_cc(translator));
  digest.add("translate").add(translator.version).add(source.name).add(source.text);
  for (const std::string &option : options) digest.add(option);
  const std::string kept = CodeCache(code_options.cache_dir).find_or_make(digest.hex(), [&] {
    const Translation made = run(translator, source, options, code_options.stop);
    return made.notes + kEndOfNotes + made.text;
  });
  const auto end = kept.find(kEndOfNotes);
  return {kept.substr(end + 1), kept.substr(0, end)};
}

}  // namespace cudascan::gswo

namespace cudascan {

std::string translator_version() {
  try {
    const auto translator = gswo::find_gswo_cc();
    return translator ? gswo::version_of_gswo_cc(*translator) : "";
  } catch (const Error &) {
    return "";
  }
}

}  // namespace cudascan
