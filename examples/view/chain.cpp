// SPDX-License-Identifier: LGPL-2.1-or-later
#include "chain.h"

#include <stdexcept>

#include "source.h"

namespace cudascan::view {
namespace {

constexpr const char *kGroup = "element ", *kName = "name";

[[noreturn]] void refuse(const std::string &path, const std::string &why) {
  throw std::runtime_error(path + ": " + why);
}

}  // namespace

std::string launch_of(const Chain &chain) {
  std::string line;
  for (const Stage &stage : chain) {
    line += (line.empty() ? "" : " ! ") + stage.element;
    for (const auto &[name, text] : stage.settings) line += " " + quoted(name + "=" + text);
  }
  return line;
}

bool is_chain_file(const std::string &path) {
  return path.ends_with(kChainEnding);
}

Chain read_chain(const std::string &path) {
  g_autoptr(GKeyFile) file = g_key_file_new();
  g_autoptr(GError) error = nullptr;
  if (!g_key_file_load_from_file(file, path.c_str(), G_KEY_FILE_NONE, &error))
    refuse(path, error->message);
  Chain chain;
  g_auto(GStrv) groups = g_key_file_get_groups(file, nullptr);
  for (gchar **group = groups; *group; ++group) {
    if (!g_str_has_prefix(*group, kGroup))
      refuse(path, "unknown group [" + std::string(*group) + "]");
    g_autofree gchar *element = g_key_file_get_string(file, *group, kName, nullptr);
    if (!element) refuse(path, "[" + std::string(*group) + "] has no " + kName);
    chain.push_back({element});
    g_auto(GStrv) keys = g_key_file_get_keys(file, *group, nullptr, nullptr);
    for (gchar **key = keys; *key; ++key) {
      if (std::string(*key) == kName) continue;
      g_autofree gchar *text = g_key_file_get_string(file, *group, *key, nullptr);
      if (!text) refuse(path, std::string(*key) + " has a value that cannot be read");
      chain.back().settings.emplace_back(*key, text);
    }
  }
  if (chain.empty()) refuse(path, "contains no element; it must have a group [element 1]");
  return chain;
}

void write_chain(const std::string &path, const Chain &chain, const std::string &comment) {
  g_autoptr(GKeyFile) file = g_key_file_new();
  g_autoptr(GError) error = nullptr;
  g_key_file_set_comment(file, nullptr, nullptr, (" " + comment).c_str(), nullptr);
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const std::string group = kGroup + std::to_string(i + 1);
    g_key_file_set_string(file, group.c_str(), kName, chain[i].element.c_str());
    for (const auto &[name, text] : chain[i].settings)
      g_key_file_set_string(file, group.c_str(), name.c_str(), text.c_str());
  }
  if (!g_key_file_save_to_file(file, path.c_str(), &error)) refuse(path, error->message);
}

}  // namespace cudascan::view
