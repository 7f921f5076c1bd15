// SPDX-License-Identifier: LGPL-2.1-or-later
#include "decode_option.h"

namespace cudascan::scan {
namespace {

constexpr DecodeBy kAll[] = {DecodeBy::cpu, DecodeBy::gpu, DecodeBy::engines, DecodeBy::kernels};

}  // namespace

const char *name_of(DecodeBy by) {
  return by == DecodeBy::cpu       ? "cpu"
         : by == DecodeBy::gpu     ? "gpu"
         : by == DecodeBy::engines ? "gpu-engines"
                                   : "gpu-kernels";
}

void DecodeOption::add_to(GOptionContext *context) {
  const GOptionEntry entries[] = {
      {"decode", 0, 0, G_OPTION_ARG_STRING, &by_,
       "What decodes files: cpu; gpu = for JPEG nvJPEG, with the engines of the GPU or else its "
       "kernels, for JPEG 2000 and TIFF nvImageCodec, where they are installed; gpu-engines or "
       "gpu-kernels = only JPEG, only with those; cpu",
       "WHAT"},
      {}};
  g_option_context_add_main_entries(context, entries, nullptr);
}

void DecodeOption::take(Options &options) const {
  if (!by_) return;
  const std::string text = by_;
  for (const DecodeBy by : kAll)
    if (text == name_of(by)) options.decode = by;
  if (text != name_of(options.decode))
    throw UsageError("--decode=" + text + ": must be cpu, gpu, gpu-engines or gpu-kernels");
  if (options.decode == DecodeBy::cpu) return;
  if (options.backend == Backend::cpu)
    throw UsageError("--decode=" + text + ": --backend=cpu does not use a GPU");
  if (options.scan) throw UsageError("--decode=" + text + ": is for files, not for scanners");
}

void prepare_reading(const Options &options, Gpus *gpus,
                     const std::function<void(const std::string &)> &say, HowToRead &how) {
  const bool only_bw = options.split == Split::no && !options.outputs.need_levels();
  how.find_content = !only_bw;
  if (options.decode == DecodeBy::cpu) return;
  const std::string option = std::string("--decode=") + name_of(options.decode) + ": ";
  const std::string instead = "; the CPU decodes the pages";
  if (!gpus) return say(option + "there is no GPU" + instead);
  // Otherwise the pixels are needed in host memory.
  if (!only_bw || options.steps.upright || options.steps.dewarp || !options.ocr.empty())
    return say(option +
               "is for black and white pages without --split, --orientation=auto, "
               "--dewarp, --also and --ocr" +
               instead);
  const auto note = options.talk == Talk::verbose ? say : nullptr;
  try {
    if (GpuJpegs *const jpegs = gpus->jpegs())
      jpegs->begin_run(note);
    else
      gpus->set_jpegs(std::make_unique<GpuJpegs>(options.decode, gpus->load(), note));
    how.jpeg_for_gpu = true;
  } catch (const Error &error) {
    say(option + "nvJPEG cannot be loaded: " + error.what() + "; the CPU decodes JPEG files");
  }
  if (options.decode != DecodeBy::gpu) return;
  try {
    if (GpuCodecs *const codecs = gpus->codecs())
      codecs->begin_run(note);
    else
      gpus->set_codecs(std::make_unique<GpuCodecs>(note));
    how.others_for_gpu = true;
  } catch (const Error &error) {
    if (note)
      note(option + "nvImageCodec cannot be loaded: " + error.what() +
           "; the CPU decodes JPEG 2000 and TIFF files");
  }
}

}  // namespace cudascan::scan
