// SPDX-License-Identifier: LGPL-2.1-or-later
#include "options.h"

#include <glib.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <sstream>

#include "decode_option.h"
#include "gpus_option.h"
#include "method_option.h"
#include "output_option.h"
#include "outputs_option.h"
#include "paper_option.h"
#include "pdf_option.h"
#include "resolution_option.h"
#include "sheets_option.h"
#include "split_option.h"

namespace cudascan::scan {
namespace {

constexpr double kUnset = std::numeric_limits<double>::quiet_NaN();

constexpr char kDescription[] =
    R"(Makes black and white pages of image files and of the images in folders (hidden files are
skipped; page2 comes before page10). Reads PNG, JPEG, TIFF, PNM, JPEG 2000, BMP, GIF, WebP and PDF
with any number of pages, in colour, 8-bit or 16-bit gray, or black and white. OUTPUT is a folder,
which is created, or a file of all pages, NAME.pdf or NAME.tif, or of one page, NAME.png. INPUT -
is standard input, OUTPUT - standard output (one page). Existing files are never overwritten: the
names are page.tif, page-1.tif and so on.

Methods: binarize (measures the page, nothing to set); nick, niblack, sauvola, wolf, bradley,
phansalkar (a threshold for each pixel, from the window around it); otsu, isodata, mcet,
triangle, max-entropy, yen, li, minimum, intermodes, moments, huang, renyi-entropy, shanbhag,
percentile, mean (one threshold for the page).

Exit status: 0 all pages were written; 1 some pages failed, were salvaged or are without their
text, and messages say why; 2 wrong usage; 3 nothing could be done (no scanner, no images, no
place to write to, no tesseract for --ocr); 4 the disk is full, which ends the run at once; 128 +
the number of the signal that ended the run after the pages in flight: 130 for Ctrl-C, 143 for
SIGTERM.)";

/// What GOption fills in. Strings are freed with it.
struct Given {
  char *output = nullptr, *device = nullptr, *source = nullptr, *method = nullptr,
       *format = nullptr, *backend = nullptr, *stats = nullptr, *orientation = nullptr,
       *files_from = nullptr, *borders = nullptr, *blank = nullptr, *crop = nullptr,
       *page_size = nullptr, *enlarge = nullptr, *split = nullptr, *mode = nullptr,
       *cuda_device = nullptr;
  char **inputs = nullptr, **scan_options = nullptr, **also = nullptr;
  PdfOption pdf;
  DecodeOption decode;
  double timeout = 30, resolution = kUnset, max_angle = 10, min_confidence = 0, k = kUnset,
         r = kUnset, margin = kUnset;
  int pages = -1, window = 0, despeckle = Steps::kByResolution, jobs = 0, jpeg_quality = 0;
  gboolean scan = FALSE, list_devices = FALSE, no_straighten = FALSE, no_even_light = FALSE,
           recursive = FALSE, dry_run = FALSE, resume = FALSE, salvage = FALSE, null = FALSE,
           quiet = FALSE, verbose = FALSE, version = FALSE, dewarp = FALSE, serve = FALSE;
  gboolean duplex = FALSE;
  char *paper = nullptr, *backs = nullptr;

  Given() = default;
  Given(const Given &) = delete;
  Given &operator=(const Given &) = delete;
  ~Given() {
    for (char *text :
         {output, device, source, method, format, backend, stats, orientation, files_from, borders,
          blank, crop, page_size, enlarge, split, mode, cuda_device})
      g_free(text);
    g_strfreev(inputs);
    g_strfreev(scan_options);
    g_free(paper);
    g_free(backs);
    g_strfreev(also);
  }
};

void parse(Given &g, std::vector<std::string> words, bool is_served) {
  const GOptionEntry entries[] = {
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &g.output,
       "Folder, or a file of all pages: NAME.pdf, NAME.tif, NAME.png (one page), - (one page)",
       "OUTPUT"},
      {"format", 0, 0, G_OPTION_ARG_STRING, &g.format, "tiff (CCITT group 4) or png; tiff",
       "FORMAT"},
      {"also", 0, 0, G_OPTION_ARG_STRING_ARRAY, &g.also,
       "Write each page in its own levels, too, straight and cropped like the page: gray or color, "
       "and .tif (not compressed), .jp2 (no loss), .png or .jpg; may be a list, and repeated",
       "gray.tif"},
      {"mode", 0, 0, G_OPTION_ARG_STRING, &g.mode,
       "Pages as bw, gray, color, mixed (text in black on white, pictures as they are) or auto; bw",
       "MODE"},
      {"jpeg-quality", 0, 0, G_OPTION_ARG_INT, &g.jpeg_quality,
       "Of JPEGs in a PDF and of --also, 1 to 100; 85", "N"},
      {"recursive", 0, 0, G_OPTION_ARG_NONE, &g.recursive, "Look into subfolders, too", nullptr},
      {"files-from", 0, 0, G_OPTION_ARG_FILENAME, &g.files_from,
       "Read names of files and folders from FILE, one a line; - = standard input", "FILE"},
      {"null", 0, 0, G_OPTION_ARG_NONE, &g.null,
       "Names in the FILE end with NUL, as of find -print0", nullptr},
      {"scan", 0, 0, G_OPTION_ARG_NONE, &g.scan, "Take pages from a scanner instead of files",
       nullptr},
      {"device", 0, 0, G_OPTION_ARG_STRING, &g.device,
       "Scanner to use, implies --scan; the first one", "NAME"},
      {"list-devices", 0, 0, G_OPTION_ARG_NONE, &g.list_devices,
       "List the scanners and exit; with -v also what they offer", nullptr},
      {"source", 0, 0, G_OPTION_ARG_STRING, &g.source, "Paper source of the scanner, such as ADF",
       "NAME"},
      {"duplex", 0, 0, G_OPTION_ARG_NONE, &g.duplex, "Scan both sides of each sheet", nullptr},
      {"backs", 0, 0, G_OPTION_ARG_STRING, &g.backs,
       "How backs come with --duplex: upright, or upside-down, then they are turned; upright",
       "HOW"},
      {"paper", 0, 0, G_OPTION_ARG_STRING, &g.paper,
       "Size of what is scanned: A3, A4, A5, letter, legal, or millimetres; the scanner's default",
       "WxH"},
      {"pages", 0, 0, G_OPTION_ARG_INT, &g.pages,
       "Scan at most N pages, 0 = until the feeder is empty; 0 with a feeder, else 1", "N"},
      {"timeout", 0, 0, G_OPTION_ARG_DOUBLE, &g.timeout,
       "Give up when the scanner sends no data this long in the middle of a page; 30", "SECONDS"},
      {"scan-option", 0, 0, G_OPTION_ARG_STRING_ARRAY, &g.scan_options,
       "Any other option of the scanner; may be repeated", "NAME=VALUE"},
      {"resolution", 0, 0, G_OPTION_ARG_DOUBLE, &g.resolution,
       "Resolution for scanning, of pages of a PDF, and of files that do not state theirs, which "
       "otherwise is estimated; 300",
       "DPI"},
      {"enlarge", 0, 0, G_OPTION_ARG_STRING, &g.enlarge,
       "auto: enlarge pages below 200 dpi to 300 dpi; no; auto", "HOW"},
      {"no-straighten", 0, 0, G_OPTION_ARG_NONE, &g.no_straighten, "Do not straighten pages",
       nullptr},
      {"max-angle", 0, 0, G_OPTION_ARG_DOUBLE, &g.max_angle,
       "Do not straighten pages that seem rotated by more, 0.1 to 10; 10", "DEGREES"},
      {"min-confidence", 0, 0, G_OPTION_ARG_DOUBLE, &g.min_confidence,
       "Straighten only with at least this confidence in the angle, 0 to 1; 0 = 0.5", "C"},
      {"orientation", 0, 0, G_OPTION_ARG_STRING, &g.orientation,
       "keep, or auto to turn pages of text that lie on their side or upside down; keep", "HOW"},
      {"dewarp", 0, 0, G_OPTION_ARG_NONE, &g.dewarp, "Straighten curved lines of text", nullptr},
      {"borders", 0, 0, G_OPTION_ARG_STRING, &g.borders,
       "white: whiten the dark border of the scanner, where it touches the edge; keep; white",
       "HOW"},
      {"split", 0, 0, G_OPTION_ARG_STRING, &g.split,
       "An open book becomes two pages: no; auto = if it surely is one; left-right or right-left = "
       "always; no",
       "HOW"},
      {"blank", 0, 0, G_OPTION_ARG_STRING, &g.blank,
       "Blank pages: keep; drop; aside = into the folder blank/ of the output, or after the others "
       "in a file of all pages; keep",
       "HOW"},
      {"crop", 0, 0, G_OPTION_ARG_STRING, &g.crop,
       "no; page = to the sheet in its dark surround; content = to what is on it; no", "TO"},
      {"margin", 0, 0, G_OPTION_ARG_DOUBLE, &g.margin, "Around what is cropped to, 0 to 100; 6.35",
       "MM"},
      {"page-size", 0, 0, G_OPTION_ARG_STRING, &g.page_size,
       "Put the page in the middle of white paper: A3, A4, A5, letter, legal, or millimetres",
       "WxH"},
      {"no-even-light", 0, 0, G_OPTION_ARG_NONE, &g.no_even_light,
       "Do not even out the light on the paper for other methods than binarize", nullptr},
      {"method", 0, 0, G_OPTION_ARG_STRING, &g.method, "Binarization method; binarize", "METHOD"},
      {"window", 0, 0, G_OPTION_ARG_INT, &g.window,
       "Side of the window in pixels for nick and the like, odd, 3 to 1023; 67 at 300 dpi",
       "PIXELS"},
      {"k", 0, 0, G_OPTION_ARG_DOUBLE, &g.k,
       "Weight of the deviation for nick and the like, -2 to 2; the method's default", "K"},
      {"r", 0, 0, G_OPTION_ARG_DOUBLE, &g.r,
       "Range of the deviation for sauvola and phansalkar; 128", "R"},
      {"despeckle", 0, 0, G_OPTION_ARG_INT, &g.despeckle,
       "Remove ink without N pixels in a row in any of four directions, 2 to 64, 0 = keep all; "
       "3 at 300 dpi",
       "PIXELS"},
      {"backend", 0, 0, G_OPTION_ARG_STRING, &g.backend, "auto, cuda or cpu; auto", "BACKEND"},
      {"cuda-device", 0, 0, G_OPTION_ARG_STRING, &g.cuda_device,
       "GPUs that share the pages: all, or numbers such as 0,2; 0", "LIST"},
      {"jobs", 'j', 0, G_OPTION_ARG_INT, &g.jobs,
       "Pages at a time; the number of cores, with a GPU 3/2 of it", "N"},
      {"salvage", 0, 0, G_OPTION_ARG_NONE, &g.salvage,
       "Keep what is there of damaged pages; the rest becomes white", nullptr},
      {"resume", 0, 0, G_OPTION_ARG_NONE, &g.resume, "Skip pages that an earlier run has finished",
       nullptr},
      {"dry-run", 'n', 0, G_OPTION_ARG_NONE, &g.dry_run,
       "Only print what would be read and written", nullptr},
      {"stats", 0, 0, G_OPTION_ARG_FILENAME, &g.stats, "Write statistics as JSON", "FILE"},
      {"quiet", 'q', 0, G_OPTION_ARG_NONE, &g.quiet, "Print only errors", nullptr},
      {"verbose", 'v', 0, G_OPTION_ARG_NONE, &g.verbose,
       "Print angle, border, threshold and times of each page", nullptr},
      {"serve", 0, 0, G_OPTION_ARG_NONE, &g.serve,
       "Make one run after another, as standard input asks for them; see the manual", nullptr},
      {"version", 0, 0, G_OPTION_ARG_NONE, &g.version, "Print the version and exit", nullptr},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &g.inputs, nullptr, "INPUT..."},
      {}};
  const std::unique_ptr<GOptionContext, decltype(&g_option_context_free)> context(
      g_option_context_new("- make scans straight, clean, black and white pages"),
      g_option_context_free);
  g_option_context_add_main_entries(context.get(), entries, nullptr);
  g.pdf.add_to(context.get());
  g.decode.add_to(context.get());
  g_option_context_set_description(context.get(), kDescription);
  // It would end the process.
  g_option_context_set_help_enabled(context.get(), !is_served);
  std::vector<char *> argv;
  for (std::string &word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(words.size());
  char **begin = argv.data();
  GError *error = nullptr;
  if (!g_option_context_parse(context.get(), &argc, &begin, &error)) {
    const std::string text = error->message;
    g_error_free(error);
    throw UsageError(text);
  }
}

/// @throws UsageError "--name=value: must be ..."
template <typename T>
void require(bool right, const char *name, const T &value, const char *rule) {
  if (right) return;
  std::ostringstream text;
  text << "--" << name << "=" << value << ": must be " << rule;
  throw UsageError(text.str());
}

std::string text_or(const char *text, const char *otherwise) {
  return text ? text : otherwise;
}

void take_scanner(const Given &g, Options &o) {
  o.scan = g.scan || g.device;
  o.list_devices = g.list_devices;
  o.version = g.version;
  o.scanner.device = text_or(g.device, "");
  o.scanner.source = text_or(g.source, "");
  o.scanner.resolution = o.resolution;
  o.scanner.pages = g.pages;
  require(g.pages >= -1, "pages", g.pages, "0 or more");
  o.scanner.timeout = g.timeout;
  require(g.timeout >= 0.1 && g.timeout <= 3600, "timeout", g.timeout, "seconds, 0.1 to 3600");
  for (char **option = g.scan_options; option && *option; ++option) {
    const std::string text = *option;
    const std::size_t equals = text.find('=');
    require(equals != std::string::npos && equals > 0, "scan-option", text,
            "NAME=VALUE, such as brightness=10");
    o.scanner.options.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  take_sheets({g.duplex != FALSE, text_or(g.backs, ""), text_or(g.paper, "")}, o);
  if (!o.scan && (g.source || g.pages >= 0 || g.scan_options))
    throw UsageError("--source, --pages and --scan-option are for scanners; add --scan");
  if (o.scan && g.resume)
    throw UsageError("--resume is for files; scanned pages always get the next free names");
}

void take_crop(const Given &g, Steps &steps) {
  const std::string crop = text_or(g.crop, name_of(Crop::no));
  for (const Crop to : {Crop::no, Crop::page, Crop::content})
    if (crop == name_of(to)) steps.crop = to;
  require(crop == name_of(steps.crop), "crop", crop, "no, page or content");
  if (!std::isnan(g.margin)) {
    require(g.margin >= 0 && g.margin <= 100, "margin", g.margin, "millimetres, 0 to 100");
    if (steps.crop == Crop::no) throw UsageError("--margin is for --crop; add it");
    steps.margin = g.margin;
  }
  if (g.page_size)
    require(find_paper(g.page_size, steps.paper), "page-size", g.page_size,
            "A3, A4, A5, letter, legal, or WIDTHxHEIGHT in millimetres, 10 to 2000");
}

void take_rest(const Given &g, Options &o) {
  for (char **input = g.inputs; input && *input; ++input) o.inputs.emplace_back(*input);
  o.output = text_or(g.output, "");
  take_resolution(g.resolution, text_or(g.enlarge, "auto"), o);
  require(g.max_angle >= 0.1 && g.max_angle <= 10, "max-angle", g.max_angle, "degrees, 0.1 to 10");
  require(g.min_confidence >= 0 && g.min_confidence <= 1, "min-confidence", g.min_confidence,
          "a number from 0 to 1");
  require(g.despeckle == Steps::kByResolution || (g.despeckle >= 0 && g.despeckle <= 64),
          "despeckle", g.despeckle, "a number of pixels, 0 to 64");
  require(g.jobs >= 0 && g.jobs <= 1024, "jobs", g.jobs, "a number from 1 to 1024");
  o.steps.straighten = !g.no_straighten;
  o.steps.dewarp = g.dewarp;
  o.steps.max_angle = g.max_angle;
  o.steps.min_confidence = g.min_confidence;
  const std::string orientation = text_or(g.orientation, "keep");
  require(orientation == "keep" || orientation == "auto", "orientation", orientation,
          "keep or auto");
  o.steps.upright = orientation == "auto";
  const std::string borders = text_or(g.borders, "white");
  require(borders == "white" || borders == "keep", "borders", borders, "white or keep");
  o.steps.whiten_border = borders == "white";
  const std::string blank = text_or(g.blank, name_of(Blank::keep));
  for (const Blank how : {Blank::keep, Blank::drop, Blank::aside})
    if (blank == name_of(how)) o.steps.blank = how;
  require(blank == name_of(o.steps.blank), "blank", blank, "keep, drop or aside");
  o.steps.even_light = !g.no_even_light;
  o.steps.despeckle = g.despeckle;
  o.jobs = g.jobs;
  const std::string format = text_or(g.format, "tiff"), backend = text_or(g.backend, "auto");
  require(format == "tiff" || format == "png", "format", format, "tiff or png");
  o.format = format == "png" ? Format::png : Format::tiff;
  require(backend == "auto" || backend == "cuda" || backend == "cpu", "backend", backend,
          "auto, cuda or cpu");
  o.backend = backend == "cuda"  ? Backend::cuda
              : backend == "cpu" ? Backend::cpu
                                 : Backend::automatic;
  o.recursive = g.recursive;
  o.dry_run = g.dry_run;
  o.resume = g.resume;
  o.salvage = g.salvage;
  o.talk = g.quiet ? Talk::quiet : g.verbose ? Talk::verbose : Talk::normal;
  o.stats = text_or(g.stats, "");
  o.files_from = text_or(g.files_from, "");
  o.null = g.null;
  if (g.null && !g.files_from) throw UsageError("--null is for --files-from; add it");
}

}  // namespace

Options parse_options(const std::vector<std::string> &words, bool is_served) {
  Given given;
  parse(given, words, is_served);
  if (given.serve)
    throw UsageError(
        "--serve: must be the only option; the runs on standard input have those that they need");
  Options options;
  take_rest(given, options);
  take_crop(given, options.steps);
  take_split(given.split, options);
  take_method({text_or(given.method, "binarize"), given.window, given.k, given.r}, options);
  take_scanner(given, options);
  take_gpus(given.cuda_device, options);
  given.decode.take(options);
  if (options.list_devices || options.version) return options;
  if (options.scan && !(options.inputs.empty() && options.files_from.empty()))
    throw UsageError((options.inputs.empty() ? "--files-from" : options.inputs[0]) +
                     ": use either files or a scanner");
  if (!options.scan && options.inputs.empty() && options.files_from.empty())
    throw UsageError("no INPUT given: name files or folders, or add --scan for a scanner");
  if (options.output.empty())
    throw UsageError("no OUTPUT given: add -o FOLDER, NAME.pdf, NAME.tif, NAME.png or -");
  take_output(given.format ? given.format : "", options);
  given.pdf.take(options);
  take_outputs({given.mode, given.also, given.jpeg_quality}, options);
  check_streams(options, is_served);
  check_split(options);
  return options;
}

}  // namespace cudascan::scan
