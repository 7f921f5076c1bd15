// SPDX-License-Identifier: LGPL-2.1-or-later
// What bounds the work of several GPUs: the links between host memory and each GPU, alone and all
// at once, those from GPU to GPU, and the host's memory.
#include <barrier>
#include <cstdio>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>

#include "bench/gpu_peers.h"
#include "bench/several_gpus.h"
#include "kernels/devices.h"

namespace cudascan::bench {
namespace {

constexpr const char *kTable = "links between host and GPUs";

/// One thread that copies, with memory of its own.
struct Lane {
  enum class Way { up, down, peer, host };
  Way way;
  int device = 0;
  int to = 0;  ///< of peers
};
using Lanes = std::vector<Lane>;

/// Copies on several lanes at the same time.
class Together {
 public:
  Together(const Options &options, std::size_t bytes)
      : bytes_(bytes), copies_(options.quick ? 2 : 8), repeats_(options.quick ? 2 : 5) {}

  /// Microseconds for so many bytes of all lanes together, the median of some runs.
  double us(const Lanes &lanes) {
    times_.clear();
    const auto note = [this]() noexcept { times_.push_back(now_us()); };
    std::barrier barrier(static_cast<std::ptrdiff_t>(lanes.size()), note);
    std::exception_ptr error;
    std::mutex mutex;  // protects `error`
    {
      std::vector<std::jthread> threads;
      for (const Lane &lane : lanes)
        threads.emplace_back([&] {
          try {
            run(lane, [&] { barrier.arrive_and_wait(); });
          } catch (...) {
            {
              const std::lock_guard lock(mutex);
              error = std::current_exception();
            }
            barrier.arrive_and_drop();
          }
        });
    }
    if (error) std::rethrow_exception(error);
    std::vector<double> runs;
    for (std::size_t i = 0; i + 1 < times_.size(); i += 2)
      runs.push_back((times_[i + 1] - times_[i]) / (copies_ * static_cast<double>(lanes.size())));
    return median(std::move(runs));
  }

 private:
  template <typename Meet>
  void run(const Lane &lane, const Meet &meet) const {
    if (lane.way == Lane::Way::host) {
      std::vector<char> from(bytes_, 1), to(bytes_);
      // The memory is used afterwards, or a compiler could leave the copies out.
      repeat(
          meet, [&] { std::memcpy(to.data(), from.data(), bytes_); }, [] {});
      if (to[bytes_ - 1] != 1) throw Error("a copy of host memory is wrong");
      return;
    }
    const bool peer = lane.way == Lane::Way::peer;
    cuda::DeviceBuffer far;
    cuda::PinnedBuffer host;
    if (peer) {
      cuda::use_device(lane.to);
      far.reserve(bytes_);
    }
    cuda::use_device(lane.device);
    {
      const cuda::Stream stream;
      const cuda::DeviceBuffer device(bytes_);
      if (!peer) std::memset(host.reserve(bytes_), 1, bytes_);
      const auto bytes = static_cast<std::ptrdiff_t>(bytes_);
      repeat(
          meet,
          [&] {
            if (peer)
              copy_to_peer(far.data(), lane.to, device.data(), lane.device, bytes_, stream.get());
            else if (lane.way == Lane::Way::up)
              cuda::copy_rows(device.data(), bytes, host.data(), bytes, bytes_, 1, stream.get());
            else
              cuda::copy_rows(host.data(), bytes, device.data(), bytes, bytes_, 1, stream.get());
          },
          [&] { stream.synchronize(); });
    }
    if (peer) cuda::use_device(lane.to);  // frees `far`
  }

  template <typename Meet, typename Copy, typename Finish>
  void repeat(const Meet &meet, const Copy &copy, const Finish &finish) const {
    copy();  // the first one is slower
    finish();
    for (int i = 0; i < repeats_; ++i) {
      meet();
      for (int n = 0; n < copies_; ++n) copy();
      finish();
      meet();
    }
  }

  const std::size_t bytes_;
  const int copies_, repeats_;
  std::vector<double> times_;  ///< of the meetings: a begin, its end, the next begin
};

class Table {
 public:
  Table(const Options &options, Report &report)
      : report_(report),
        size_(options.quick ? Size{512, 512, 8} : Size{8192, 8192, 8}),
        together_(options, static_cast<std::size_t>(size_.pixels())) {}

  /// @param series  the same for rows that differ in which GPUs and how many
  void add(const std::string &series, const std::string &name, const Lanes &lanes,
           const char *parameter, std::size_t value) {
    Row row;
    row.table = row.section = kTable;
    row.backend = lanes[0].way == Lane::Way::host ? "cpu" : "cuda";
    row.series = series;
    row.name = name;
    row.parameter = parameter;
    row.value = static_cast<double>(value);
    row.size = size_;
    row.reads_only = true;  // each byte counts once
    try {
      row.us = together_.us(lanes);
    } catch (const std::exception &error) {
      row.error = error.what();
    }
    std::printf("%-44s", name.c_str());
    if (row.error.empty())
      std::printf(" %10s\n", number(row.bytes() / row.us / 1e3, 1).c_str());
    else
      std::printf(" FAILED: %s\n", row.error.c_str());
    std::fflush(stdout);
    report_.record(row);
  }

 private:
  Report &report_;
  const Size size_;
  Together together_;
};

std::string gpus_text(std::size_t n) {
  return std::to_string(n) + " GPUs at once";
}

/// Host memory and GPUs: each GPU alone, then several at once.
void host_rows(Table &table) {
  const auto rows = [&](const std::string &who, const std::vector<int> &devices) {
    Lanes up, down, both;
    for (const int device : devices) {
      up.push_back({Lane::Way::up, device});
      down.push_back({Lane::Way::down, device});
    }
    both = up;
    both.insert(both.end(), down.begin(), down.end());
    table.add("host to GPU", "host to " + who, up, "GPUs", devices.size());
    table.add("GPU to host", who + " to host", down, "GPUs", devices.size());
    table.add("both directions", "host and " + who + ", both directions", both, "GPUs",
              devices.size());
  };
  for (const int device : Devices::all()) rows("GPU " + std::to_string(device), {device});
  for (const std::vector<int> &list : device_lists())
    if (list.size() > 1) rows(gpus_text(list.size()), list);
}

/// From GPU to GPU: through the host, then directly, for each pair and in a ring.
void peer_rows(Table &table) {
  const std::vector<int> all = Devices::all();
  if (all.size() < 2) return;
  const auto name = [](int from, int to) {
    return "GPU " + std::to_string(from) + " to GPU " + std::to_string(to);
  };
  const std::string through = "through the host";
  table.add("GPU to GPU, " + through, name(0, 1) + ", " + through, {{Lane::Way::peer, 0, 1}},
            "GPUs", 2);
  bool direct = true;
  for (const int from : all)
    for (const int to : all)
      if (from < to) direct = let_peers_reach(from, to) && direct;
  if (!direct) {
    std::printf("(not all GPUs reach each other directly)\n");
    return;
  }
  for (const int from : all)
    for (const int to : all)
      if (from != to)
        table.add("GPU to GPU", name(from, to), {{Lane::Way::peer, from, to}}, "GPUs", 2);
  for (const std::vector<int> &list : device_lists()) {
    if (list.size() < 2) continue;
    Lanes ring;
    for (std::size_t i = 0; i < list.size(); ++i)
      ring.push_back({Lane::Way::peer, list[i], list[(i + 1) % list.size()]});
    table.add("GPU to GPU, a ring", "each of " + gpus_text(list.size()) + " to the next", ring,
              "GPUs", list.size());
  }
}

}  // namespace

void link_tables(const Options &options, bool with_cuda, Report &report) {
  if (!with_cuda || !options.wants(kTable)) return;
  std::printf("\nLINKS: copies of pinned memory and between GPUs [%s]\n%-44s %10s\n", kTable, "",
              "GB/s");
  Table table(options, report);
  try {
    host_rows(table);
    peer_rows(table);
  } catch (const std::exception &error) {
    std::printf("(no more links: %s)\n", error.what());
  }
  const int cores = this_machine().cores;
  table.add("host memory", "host memory, copied by one core", {{Lane::Way::host}}, "cores", 1);
  if (cores > 1)
    table.add("host memory", "host memory, copied by " + std::to_string(cores) + " cores",
              Lanes(static_cast<std::size_t>(cores), {Lane::Way::host}), "cores",
              static_cast<std::size_t>(cores));
}

}  // namespace cudascan::bench
