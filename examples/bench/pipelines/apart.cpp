// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/pipelines/apart.h"

#include <sys/wait.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace cudascan::bench {
namespace {

/// How often to start a process whose element crashes: whether it crashes depends on addresses.
constexpr int kAttempts = 3;
constexpr char kMeasured[] = "measured %lf %lf %" SCNu64;

}  // namespace

Throughput measure_apart(const Launch &launch, double seconds) {
  g_autofree gchar *program = g_file_read_link("/proc/self/exe", nullptr);
  if (!program) throw Error("/proc/self/exe cannot be read; is /proc mounted?");
  std::string words[] = {program,
                         std::string("--") + kApart,
                         "--element=" + launch.chain,
                         "--format=" + launch.format,
                         "--width=" + std::to_string(launch.width),
                         "--height=" + std::to_string(launch.height),
                         "--seconds=" + std::to_string(seconds)};
  std::vector<gchar *> arguments;
  for (std::string &word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  gint status = 0;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    g_autofree gchar *said = nullptr;
    g_autoptr(GError) error = nullptr;
    if (!g_spawn_sync(nullptr, arguments.data(), nullptr, G_SPAWN_DEFAULT, nullptr, nullptr, &said,
                      nullptr, &status, &error))
      throw Error(error->message);
    if (WIFSIGNALED(status)) continue;
    Throughput result;
    if (std::sscanf(said, kMeasured, &result.us, &result.cpu_us, &result.frames) != 3)
      throw Error(*said ? g_strchomp(said) : "its process ended without a message");
    return result;
  }
  throw Error("its process ended by signal " + std::to_string(WTERMSIG(status)) + ", " +
              strsignal(WTERMSIG(status)) + ", " + std::to_string(kAttempts) + " times");
}

int answer_apart(const Launch &launch, double seconds) {
  try {
    const Throughput t = measure_throughput(read_behind_queue(launch), 1, seconds);
    std::printf("measured %.7g %.7g %" PRIu64 "\n", t.us, t.cpu_us, t.frames);
    return 0;
  } catch (const std::exception &error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}

}  // namespace cudascan::bench
