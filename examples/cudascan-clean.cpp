// SPDX-License-Identifier: LGPL-2.1-or-later
// Cleans a scan, a photo or a video: cudascan-clean FILE [element=NAME] [PROPERTY=VALUE ...]
//
// An image becomes a PNG, a video becomes a video. Prints the pipeline it ran, ready to paste into
// a shell. This is also an example of using these elements in your own program: build a pipeline,
// run it, and read the element's properties and reports.
#include <glib/gstdio.h>
#include <gst/gst.h>
#include <gst/pbutils/pbutils.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "elements.h"

namespace {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Arguments {
  std::string input, output;
  std::string element = cudascan::kDefaultElement;
  std::vector<std::string> properties;  // properties of the element
};

/// Whether an element's default result has more than black and white. Only such results are reduced
/// to 8 bits. An element with black and white results needs only the gray values of an image.
bool keeps_colour(const std::string &element) {
  const std::string launch =
      "capsfilter caps=video/x-raw,format=GRAY16_LE ! " + element + " name=element";
  g_autoptr(GError) error = nullptr;
  g_autoptr(GstElement) bin = gst_parse_bin_from_description(launch.c_str(), FALSE, &error);
  if (error) throw Failure(error->message);
  g_autoptr(GstElement) inside = gst_bin_get_by_name(GST_BIN(bin), "element");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(inside, "src");
  g_autoptr(GstCaps) gives = gst_pad_query_caps(pad, nullptr);
  g_autoptr(GstCaps) gray8 = gst_caps_from_string("video/x-raw,format=GRAY8");
  return !gst_caps_can_intersect(gives, gray8);
}

bool have_elements(const std::vector<const char *> &names) {
  for (const char *name : names) {
    g_autoptr(GstElementFactory) factory = gst_element_factory_find(name);
    if (!factory) return false;
  }
  return true;
}

Arguments parse_arguments(int argc, char **argv) {
  gchar *output = nullptr;
  gboolean version = FALSE;
  gchar **rest = nullptr;
  const GOptionEntry entries[] = {
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output,
       "Where to write the result (default: NAME-clean.png or the like in this folder)", "FILE"},
      {"version", 0, 0, G_OPTION_ARG_NONE, &version, "Print the version and exit", nullptr},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &rest, nullptr, nullptr},
      {}};
  g_autoptr(GOptionContext) context =
      g_option_context_new("FILE [element=NAME] [PROPERTY=VALUE ...]");
  g_option_context_set_summary(
      context,
      "Turns an image or a video into black and white with the element cudabinarize, or runs it\n"
      "through another element of gst-cudascan, for instance element=cudaequalize.\n"
      "PROPERTY=VALUE sets properties of the element: level=fast, invert=on, backend=cpu ...");
  g_option_context_add_main_entries(context, entries, nullptr);
  g_option_context_add_group(context, gst_init_get_option_group());
  g_autoptr(GError) error = nullptr;
  if (!g_option_context_parse(context, &argc, &argv, &error)) throw Failure(error->message);
  if (version) {
    std::puts("cudascan-clean " VERSION);
    std::exit(0);
  }

  Arguments arguments;
  for (gchar **word = rest; word && *word; ++word) {
    if (g_str_has_prefix(*word, "element="))
      arguments.element = std::strchr(*word, '=') + 1;
    else if (std::string(*word).find('=') != std::string::npos &&
             !g_file_test(*word, G_FILE_TEST_EXISTS))
      arguments.properties.push_back(*word);
    else if (arguments.input.empty())
      arguments.input = *word;
    else
      throw Failure(std::string(*word) + ": give only one file");
  }
  if (output) arguments.output = output;
  g_free(output);
  g_strfreev(rest);
  if (arguments.input.empty()) throw Failure("no file given; see cudascan-clean --help");
  if (!g_file_test(arguments.input.c_str(), G_FILE_TEST_IS_REGULAR))
    throw Failure(arguments.input + ": file not found");
  return arguments;
}

struct Picture {
  bool is_image;
  unsigned width, height;
};

/// The content of a file. Throws if no installed plugin can read it.
Picture discover(const std::string &path) {
  g_autoptr(GError) error = nullptr;
  g_autofree gchar *uri = gst_filename_to_uri(path.c_str(), &error);
  if (!uri) throw Failure(error->message);
  g_autoptr(GstDiscoverer) discoverer = gst_discoverer_new(30 * GST_SECOND, &error);
  if (!discoverer) throw Failure(error->message);
  g_autoptr(GstDiscovererInfo) info = gst_discoverer_discover_uri(discoverer, uri, &error);
  GList *streams = info ? gst_discoverer_info_get_video_streams(info) : nullptr;
  if (streams) {
    auto *video = static_cast<GstDiscovererVideoInfo *>(streams->data);
    const Picture picture{gst_discoverer_video_info_is_image(video) != FALSE,
                          gst_discoverer_video_info_get_width(video),
                          gst_discoverer_video_info_get_height(video)};
    gst_discoverer_stream_info_list_free(streams);
    // A missing decoder for another stream, such as sound, does not matter.
    if (picture.width > 0) return picture;
  }
  if (info && gst_discoverer_info_get_result(info) == GST_DISCOVERER_MISSING_PLUGINS) {
    std::string missing;
    // "gstreamer|1.0|program|H.264 decoder|decoder-video/x-h264"
    for (const gchar **detail = gst_discoverer_info_get_missing_elements_installer_details(info);
         detail && *detail; ++detail) {
      g_auto(GStrv) fields = g_strsplit(*detail, "|", -1);
      if (g_strv_length(fields) > 3)
        missing += (missing.empty() ? "" : ", ") + std::string(fields[3]);
    }
    throw Failure(path + ": GStreamer has no plugin to read it (missing: " +
                  (missing.empty() ? "a decoder" : missing) +
                  ").\nInstall more plugins; on Debian and Ubuntu: gstreamer1.0-plugins-good "
                  "gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly gstreamer1.0-libav");
  }
  if (error && !g_error_matches(error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN))
    throw Failure(path + ": " + error->message);
  throw Failure(path + ": GStreamer found no picture in it");
}

/// How a video is written: with the first of these whose elements are all installed.
struct Encoder {
  std::vector<const char *> elements;
  const char *chain, *extension;
};
const Encoder kEncoders[] = {
    {{"nvh264enc", "h264parse", "mp4mux"}, "nvh264enc ! h264parse ! mp4mux", "mp4"},
    {{"x264enc", "mp4mux"},
     "videoconvert ! video/x-raw,format=I420 ! x264enc speed-preset=veryfast pass=quant "
     "quantizer=21 ! mp4mux",
     "mp4"},
    {{"vp8enc", "webmmux"},
     "videoconvert ! vp8enc deadline=1 cpu-used=8 threads=4 end-usage=cq cq-level=10 "
     "target-bitrate=20000000 ! webmmux",
     "webm"},
    {{"theoraenc", "oggmux"}, "videoconvert ! theoraenc quality=56 ! oggmux", "ogv"},
    {{"jpegenc", "matroskamux"}, "videoconvert ! jpegenc quality=90 ! matroskamux", "mkv"},
};

const Encoder &choose_encoder() {
  for (const Encoder &encoder : kEncoders)
    if (have_elements(encoder.elements)) return encoder;
  throw Failure(
      "GStreamer has no video encoder. Install plugins; on Debian and Ubuntu: "
      "gstreamer1.0-plugins-good gstreamer1.0-plugins-ugly");
}

std::string quoted(const std::string &word) {
  const bool plain = word.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789+-_./:,=@%") == std::string::npos;
  if (plain && !word.empty()) return word;
  g_autofree gchar *quoted = g_shell_quote(word.c_str());
  return quoted;
}

/// The pipeline as you would type it after gst-launch-1.0.
std::string describe(Arguments &arguments, const Picture &picture) {
  const std::string &element = arguments.element;
  const bool colour = keeps_colour(element);
  std::string chain, extension;
  if (picture.is_image) {
    chain = "pngenc snapshot=true";
    if (colour) chain = "videoconvert ! 'video/x-raw,format={GRAY8,GRAY16_BE,RGB}' ! " + chain;
    extension = "png";
  } else {
    const Encoder &encoder = choose_encoder();
    chain = encoder.chain;
    extension = encoder.extension;
  }
  if (arguments.output.empty()) {
    g_autofree gchar *base = g_path_get_basename(arguments.input.c_str());
    const std::string name = base;
    arguments.output = name.substr(0, name.rfind('.')) + "-clean." + extension;
  }
  g_autofree gchar *in = g_canonicalize_filename(arguments.input.c_str(), nullptr);
  g_autofree gchar *out = g_canonicalize_filename(arguments.output.c_str(), nullptr);
  if (std::string(in) == out)
    throw Failure(arguments.output + ": output and input are the same file");

  std::string line = "filesrc location=" + quoted(arguments.input);
  // videoconvert passes on unchanged what the element accepts, including frames in CUDA memory.
  line += " ! decodebin ! videoconvert ! ";
  const bool only_gray = picture.is_image && !colour;
  if (only_gray) line += "'video/x-raw,format={GRAY8,GRAY16_LE}' ! ";
  if (!picture.is_image) line += "queue ! ";
  line += element;
  for (const std::string &property : arguments.properties)
    line.append(" ").append(quoted(property));
  if (only_gray) line += " ! video/x-raw,format=GRAY8";
  if (!picture.is_image) line += " ! queue";
  return line + " ! " + chain + " ! filesink location=" + quoted(arguments.output);
}

GstElement *find(GstElement *pipeline, const std::string &element) {
  g_autoptr(GstIterator) elements =
      gst_bin_iterate_all_by_element_factory_name(GST_BIN(pipeline), element.c_str());
  GValue item = G_VALUE_INIT;
  GstElement *found = nullptr;
  if (gst_iterator_next(elements, &item) == GST_ITERATOR_OK) {
    found = GST_ELEMENT(g_value_dup_object(&item));
    g_value_unset(&item);
  }
  return found;
}

/// Runs the pipeline to its end.
void run(GstElement *pipeline) {
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  g_autoptr(GstMessage) message = gst_bus_timed_pop_filtered(
      bus, GST_CLOCK_TIME_NONE, static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_EOS));
  if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ERROR) return;
  g_autoptr(GError) error = nullptr;
  g_autofree gchar *debug = nullptr;
  gst_message_parse_error(message, &error, &debug);
  g_autofree gchar *source = gst_object_get_name(GST_MESSAGE_SRC(message));
  gst_element_set_state(pipeline, GST_STATE_NULL);
  std::string reason = std::string(source) + ": " + error->message;
  // Some elements give the reason after the source location.
  if (const char *more = debug ? std::strchr(debug, '\n') : nullptr) reason += more;
  throw Failure(reason);
}

void print_result(GstElement *element, const Arguments &arguments, const Picture &picture,
                  double seconds) {
  GEnumValue *backend = nullptr;
  gint value = 0;
  g_object_get(element, "active-backend", &value, nullptr);
  auto *property = g_object_class_find_property(G_OBJECT_GET_CLASS(element), "active-backend");
  backend = g_enum_get_value(G_PARAM_SPEC_ENUM(property)->enum_class, value);

  GstStructure *stats = nullptr;
  guint64 frames = 0, kernel = 0, upload = 0, download = 0;
  g_object_get(element, "stats", &stats, nullptr);
  gst_structure_get_uint64(stats, "frames", &frames);
  gst_structure_get_uint64(stats, "kernel-mean", &kernel);
  gst_structure_get_uint64(stats, "upload-mean", &upload);
  gst_structure_get_uint64(stats, "download-mean", &download);
  gst_structure_free(stats);

  std::printf("backend   %s\n", backend ? backend->value_nick : "?");
  std::printf("frames    %" PRIu64 " of %ux%u\n", frames, picture.width, picture.height);
  std::printf("time      %.3f ms per frame in %s", kernel * 1e-6, arguments.element.c_str());
  if (upload || download)
    std::printf(", %.3f ms to the GPU, %.3f ms back", upload * 1e-6, download * 1e-6);
  std::printf("; %.2f s in all\n", seconds);
  std::printf("result    %s\n", arguments.output.c_str());
}

void clean(int argc, char **argv) {
  Arguments arguments = parse_arguments(argc, argv);
  cudascan::check_element(arguments.element);
  const Picture picture = discover(arguments.input);
  const std::string description = describe(arguments, picture);
  std::printf("pipeline  gst-launch-1.0 %s\n", description.c_str());
  std::fflush(stdout);

  // Exactly what a shell and gst-launch-1.0 make of that line.
  g_autoptr(GError) error = nullptr;
  g_auto(GStrv) words = nullptr;
  if (!g_shell_parse_argv(description.c_str(), nullptr, &words, &error))
    throw Failure(error->message);
  g_autoptr(GstElement) pipeline = gst_parse_launchv(const_cast<const gchar **>(words), &error);
  if (error) throw Failure(error->message);
  g_autoptr(GstElement) element = find(pipeline, arguments.element);

  const gint64 start = g_get_monotonic_time();
  try {
    run(pipeline);
  } catch (const Failure &) {
    g_remove(arguments.output.c_str());  // an unfinished result is of no use
    throw;
  }
  const double seconds = (g_get_monotonic_time() - start) * 1e-6;
  print_result(element, arguments, picture, seconds);
  gst_element_set_state(pipeline, GST_STATE_NULL);
}

}  // namespace

int main(int argc, char **argv) {
  try {
    clean(argc, argv);
  } catch (const std::exception &failure) {
    std::fprintf(stderr, "cudascan-clean: %s\n", failure.what());
    return 1;
  }
  return 0;
}
