// SPDX-License-Identifier: LGPL-2.1-or-later
#include "nvimgcodec.h"

#include <memory>
#include <utility>

#include "common/error.h"
#include "load_library.h"

namespace cudascan::scan {
namespace {

/// The statuses of calls, from 0 on.
constexpr const char *kStatuses[] = {"success",
                                     "not initialized",
                                     "invalid parameter",
                                     "bad code stream",
                                     "code stream not supported",
                                     "no memory",
                                     "execution failed",
                                     "wrong GPU",
                                     "internal error",
                                     "not implemented",
                                     "another library is missing"};

std::string call_failed(const char *what, int status) {
  return scan::call_failed(what, kStatuses, status);
}

constexpr std::uint32_t kDecoded = 1;
/// The decoder may have queued something before it failed.
bool may_have_begun(std::uint32_t status) {
  constexpr std::uint32_t kFailed = 0x3, kCorrupted = 0x7;
  return status == kFailed || status == kCorrupted;
}

/// The status of a page in words. Its lower bits say which kind the others are of.
std::string page_status_text(std::uint32_t status) {
  static constexpr std::pair<std::uint32_t, const char *> kNames[] = {
      {0x3, "failed"},
      {0x7, "the file is damaged"},
      {0xb, "no decoder for this format; is its library installed?"},
      {0x13, "no decoder for this format on the GPU; is its library installed?"},
      {0x23, "its coding is not supported"},
      {0x43, "its size is not supported"},
      {0x83, "a feature of the file is not supported"}};
  std::string text = "not supported";
  for (const auto &[number, name] : kNames)
    if (status == number) text = name;
  return text + " (" + std::to_string(status) + ")";
}

/// Owns what a function destroys.
using Owner = std::unique_ptr<void, int (*)(void *)>;

}  // namespace

int GpuCodecs::on_message(int, int, const CodecMessage *message, void *codecs) {
  std::string text = message->text ? message->text : "";
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  const char *const who = message->codec_id ? message->codec_id : "nvImageCodec";
  static_cast<GpuCodecs *>(codecs)->note(std::string(who) + ": " + text);
  return 1;  // nobody else need print it
}

GpuCodecs::GpuCodecs(Say note) : note_(std::move(note)) {
  NvimgcodecFunctions &f = functions_;
  std::uint32_t version = 0;
  const auto take = [&](void *library) {
    std::string problem = FunctionsOf(library)
                              .find(f.get_properties, "nvimgcodecGetProperties")
                              .find(f.create_instance, "nvimgcodecInstanceCreate")
                              .find(f.destroy_instance, "nvimgcodecInstanceDestroy")
                              .find(f.create_decoder, "nvimgcodecDecoderCreate")
                              .find(f.destroy_decoder, "nvimgcodecDecoderDestroy")
                              .find(f.create_code, "nvimgcodecCodeStreamCreateFromHostMem")
                              .find(f.destroy_code, "nvimgcodecCodeStreamDestroy")
                              .find(f.get_info, "nvimgcodecCodeStreamGetImageInfo")
                              .find(f.create_image, "nvimgcodecImageCreate")
                              .find(f.destroy_image, "nvimgcodecImageDestroy")
                              .find(f.decode, "nvimgcodecDecoderDecode")
                              .find(f.wait, "nvimgcodecFutureWaitForAll")
                              .find(f.get_statuses, "nvimgcodecFutureGetProcessingStatus")
                              .find(f.destroy_future, "nvimgcodecFutureDestroy")
                              .problem();
    if (!problem.empty()) return problem;
    auto properties = codec_struct<CodecProperties>();
    if (const int status = f.get_properties(&properties))
      return call_failed("nvimgcodecGetProperties", status);
    version = properties.version;
    if (version < kCodecVersion || version >= kNextCodecVersion)
      return "is version " + std::to_string(version / 1000) + '.' +
             std::to_string(version / 100 % 10) + "; 0.9 is needed";
    return std::string();
  };
  const auto say = [this](const std::string &line) { this->note(line); };
  const std::string place =
      load_library("nvImageCodec", "CUDASCAN_NVIMGCODEC", {"libnvimgcodec.so.0"}, take, say);

  messenger_ = codec_struct<CodecMessenger>();
  messenger_.severities = CodecMessenger::kWarnings;
  messenger_.categories = CodecMessenger::kAll;
  messenger_.say = on_message;
  messenger_.user = this;
  auto info = codec_struct<CodecInstanceInfo>();
  info.load_builtin = info.load_extensions = 1;
  info.make_messenger = 1;
  info.messenger = &messenger_;
  if (const int status = f.create_instance(&instance_, &info))
    throw Error(call_failed("nvimgcodecInstanceCreate", status));
  loaded_ = "nvImageCodec: " + place + ", version 0.9." + std::to_string(version % 100);
  this->note(loaded_);
}

GpuCodecs::~GpuCodecs() {
  functions_.destroy_instance(instance_);
}

void GpuCodecs::begin_run(Say note) {
  {
    const std::lock_guard lock(mutex_);
    note_ = std::move(note);
    noted_.clear();
  }
  this->note(loaded_);
}

void GpuCodecs::note(const std::string &line) {
  const std::lock_guard lock(mutex_);
  if (note_ && noted_.insert(line).second) note_(line);
}

/// Opens the decoder the first time. @return why it cannot be used, or ""
std::string GpuCodec::open() {
  if (decoder_ || !problem_.empty()) return problem_;
  CodecBackend backends[3];
  const int kinds[] = {CodecBackend::kGpu, CodecBackend::kHybrid, CodecBackend::kEngines};
  for (int i = 0; i < 3; ++i) {
    constexpr int kFixed = 2;  // all pages may go to it
    backends[i] = codec_struct<CodecBackend>();
    backends[i].kind = kinds[i];
    backends[i].params = codec_struct<CodecBackendParams>();
    backends[i].params.load_hint = 1;
    backends[i].params.load_hint_policy = kFixed;
  }
  auto how = codec_struct<CodecExecution>();
  how.cpu_threads = 1;
  how.device = device_;
  how.backend_count = 3;
  how.backends = backends;
  if (const int status =
          shared_.functions().create_decoder(shared_.instance(), &decoder_, &how, nullptr)) {
    decoder_ = nullptr;
    problem_ = call_failed("nvimgcodecDecoderCreate", status);
    shared_.note("GPU " + std::to_string(device_) + ": " + kName + " cannot be used: " + problem_);
  }
  return problem_;
}

void GpuCodec::close() {
  if (decoder_) shared_.functions().destroy_decoder(decoder_);
  decoder_ = nullptr;
}

std::string GpuCodec::decode(const CodedPage &page, const CodecTarget &to, CUstream_st *stream) {
  if (std::string problem = open(); !problem.empty()) return problem;
  const NvimgcodecFunctions &f = shared_.functions();
  void *made = nullptr;
  if (const int status =
          f.create_code(shared_.instance(), &made, page.data(), page.size(), nullptr))
    return call_failed("nvimgcodecCodeStreamCreateFromHostMem", status);
  const Owner code(made, f.destroy_code);
  auto info = codec_struct<CodecImageInfo>();
  if (const int status = f.get_info(code.get(), &info))
    return call_failed("nvimgcodecCodeStreamGetImageInfo", status);
  if (info.planes[0].width != static_cast<std::uint32_t>(to.width) ||
      info.planes[0].height != static_cast<std::uint32_t>(to.height))
    return "it reads another size: " + std::to_string(info.planes[0].width) + "x" +
           std::to_string(info.planes[0].height);

  info = codec_struct<CodecImageInfo>();
  const bool is_gray = to.samples == 1;
  info.colours = is_gray ? CodecImageInfo::kGrayColours : CodecImageInfo::kRgbColours;
  info.format = is_gray ? CodecImageInfo::kGray : CodecImageInfo::kInterleavedRgb;
  info.orientation = codec_struct<CodecOrientation>();
  info.plane_count = 1;
  CodecPlane &plane = info.planes[0] = codec_struct<CodecPlane>();
  plane.width = to.width;
  plane.height = to.height;
  plane.stride = to.stride;
  plane.samples = to.samples;
  plane.sample_type = to.depth == 8 ? CodecPlane::kUint8 : CodecPlane::kUint16;
  plane.precision = static_cast<std::uint8_t>(to.depth);
  info.buffer = to.data;
  info.buffer_kind = CodecImageInfo::kInDeviceMemory;
  info.stream = stream;
  made = nullptr;
  if (const int status = f.create_image(shared_.instance(), &made, &info))
    return call_failed("nvimgcodecImageCreate", status);
  const Owner image(made, f.destroy_image);
  return run(code.get(), image.get());
}

std::string GpuCodec::run(void *code, void *image) {
  const NvimgcodecFunctions &f = shared_.functions();
  const auto params = codec_struct<CodecDecodeParams>();
  void *made = nullptr;
  if (const int status = f.decode(decoder_, &code, &image, 1, &params, &made)) {
    close();
    return call_failed("nvimgcodecDecoderDecode", status);
  }
  const Owner future(made, f.destroy_future);
  std::uint32_t page_status = 0;
  std::size_t count = 1;
  int status = f.wait(future.get());
  if (status == 0) status = f.get_statuses(future.get(), &page_status, &count);
  if (status == 0 && page_status == kDecoded) return "";
  // The CPU decodes to the same place, so nothing may be queued any more.
  if (status != 0 || may_have_begun(page_status)) close();
  return status != 0 ? call_failed("nvimgcodecFutureGetProcessingStatus", status)
                     : page_status_text(page_status);
}

}  // namespace cudascan::scan
