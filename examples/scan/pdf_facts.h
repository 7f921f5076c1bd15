// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <ctime>
#include <map>
#include <string>

namespace cudascan::scan {

/// How the images of pages are compressed; both are lossless.
enum class Compression {
  g4,     ///< CCITT group 4 (ITU-T T.6)
  jbig2,  ///< generic regions of ITU-T T.88
};

/// What a PDF says of itself, in UTF-8, "" = nothing, and how it is made.
struct PdfFacts {
  std::string title, author, subject, keywords;
  std::string language;  ///< as BCP 47 says: "en"
  std::string program;   ///< with its version
  std::string mark;      ///< a comment near the beginning of the file
  std::time_t time = 0;  ///< when it was made
  Compression compression = Compression::g4;
  bool texts = false;  ///< whether pages have their texts next to them
  int jobs = 1;        ///< threads that compress pages
  /// Labels of pages, by their names in the folder.
  std::map<std::string, std::string> labels;
};

}  // namespace cudascan::scan
