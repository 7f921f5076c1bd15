// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/pipelines/rows.h"

#include <cmath>
#include <cstdio>
#include <fstream>

namespace cudascan::bench {
namespace {

std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return result + '"';
}

/// A JSON object; members keep the order in which they were added.
class Object {
 public:
  void add(const char *key, const std::string &text) { raw(key, quoted(text)); }
  void add_text(const char *key, const std::string &text) {
    if (!text.empty()) add(key, text);
  }
  void add_or_null(const char *key, const std::string &text) {
    raw(key, text.empty() ? "null" : quoted(text));
  }
  /// Leaves out unknown values.
  void add(const char *key, double value) {
    if (!std::isfinite(value)) return;
    char text[32];
    std::snprintf(text, sizeof text, "%.7g", value);
    raw(key, text);
  }
  void add(const char *key, bool value) { raw(key, value ? "true" : "false"); }
  void add(const char *key, const Object &object) { raw(key, object.text()); }
  std::string text() const { return "{" + fields_ + "}"; }

 private:
  void raw(const char *key, const std::string &value) {
    fields_ += (fields_.empty() ? "" : ", ") + quoted(key) + ": " + value;
  }
  std::string fields_;
};

Object object_of(const Latency &latency) {
  Object o;
  o.add("p50", latency.p50);
  o.add("p95", latency.p95);
  o.add("p99", latency.p99);
  o.add("max", latency.max);
  return o;
}

std::string json_of(const PipelineRow &row) {
  Object o;
  o.add("table", row.table);
  o.add("name", row.name + (row.queues ? ", with queues" : ""));
  o.add_text("where", row.where);
  o.add_text("backend", row.backend);
  o.add("width", double(row.size.width));
  o.add("height", double(row.size.height));
  o.add("depth", double(row.size.depth));
  o.add("streams", double(row.streams));
  if (row.gpus > 0) o.add("gpus", double(row.gpus));
  o.add("queues", row.queues);
  o.add("peer", !row.peer.empty());
  o.add_text("element", row.peer);
  o.add("us", row.us);
  o.add("fps", 1e6 / row.us);
  o.add("floor_us", row.floor_us);
  o.add("kernels_us", row.kernels_us);
  o.add("chained_kernels_us", row.chained_us);
  o.add("link_us", row.link_us);
  o.add("goal_us", row.goal_us);
  o.add("peer_us", row.peer_us);
  o.add("cpu_us_per_frame", row.cpu_us);
  o.add("syncs_per_frame", row.syncs);
  o.add("throttled_per_frame", row.throttled);
  if (row.table == "gpus") o.add("peer_copies_per_frame", row.peer_copies);
  if (row.table == "live" || row.table == "camera") {
    o.add("fps_in", row.fps_in);
    o.add("frames", double(row.frames));
    o.add("dropped", double(row.dropped));
  }
  if (!std::isnan(row.latency.p50)) {
    o.add("latency_us", object_of(row.latency));
    o.add("latency_frames", double(row.latency.frames));
  }
  if (!std::isnan(row.sensor.p50)) o.add("sensor_us", object_of(row.sensor));
  if (!std::isnan(row.added.p50)) {
    Object added;
    added.add("p50", row.added.p50);
    added.add("p99", row.added.p99);
    o.add("added_us", added);
  }
  if (row.threads > 0) o.add("threads", double(row.threads));
  o.add_text("error", row.error);
  return o.text();
}

}  // namespace

void write_json(const std::string &path, const Machine &machine,
                const std::vector<PipelineRow> &rows) {
  Object m;
  m.add_or_null("gpu", machine.gpu);
  m.add_or_null("cpu", machine.cpu);
  if (machine.gpus > 0) m.add("gpus", double(machine.gpus));
  m.add("cores", double(machine.cores));
  m.add_or_null("driver", machine.driver);
  m.add_or_null("cuda", machine.cuda);
  m.add_or_null("gstreamer", machine.gstreamer);
  m.add("date", machine.date);
  std::ofstream file(path);
  file << "{\"machine\": " << m.text() << ",\n\"rows\": [";
  const char *separator = "\n  ";
  for (const PipelineRow &row : rows) {
    file << separator << json_of(row);
    separator = ",\n  ";
  }
  file << "\n]}\n";
  file.close();
  if (!file)
    throw Error("--json " + path + ": cannot be written; does the folder exist, is the disk full?");
}

}  // namespace cudascan::bench
