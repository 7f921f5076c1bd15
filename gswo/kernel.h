// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// One `for` pragma: two or three loops whose windows become threads.
#pragma once
#include <memory>

#include "gswo/edits.h"
#include "gswo/linear_form.h"

namespace cudascan::gswo {

/// A rectangle of offsets from the window's own pixel.
struct Box {
  int y0, y1, x0, x1;
  friend bool operator==(const Box &, const Box &) = default;
};

/// An array whose subscripts move with the window. Offsets are slices, rows and columns from the
/// window's own.
struct Image {
  const clang::VarDecl *variable;
  std::string name;
  std::string type;      ///< of its elements: an arithmetic type of C++, or a structure
  std::size_t size = 0;  ///< bytes of an element
  const clang::RecordDecl *record = nullptr;  ///< if they are structures
  int dimensions = 2;                         ///< subscripts in the source
  bool is_volume = false;
  std::string stride;  ///< with one subscript: the text of the width of its rows
  std::string slice;   ///< of a volume with one subscript: the text of the rows of a slice
  const clang::VarDecl *stride_variable = nullptr;

  bool read = false;  ///< windows see the image as it was before the filter
  bool written = false;
  bool always_written = true;  ///< by every window
  bool known = true;           ///< all offsets that are read are known
  bool centred = true;         ///< only the window's own pixel is read
  bool clamped = false;        ///< the source itself keeps its indices inside the image
  int z0 = 0, z1 = 0, y0 = 0, y1 = 0, x0 = 0, x1 = 0;  ///< offsets read
  int write_z = 0, write_y = 0, write_x = 0;           ///< offset written
  /// The window changes its own pixel step by step, in a variable that is stored at the end.
  bool in_register = false;
  bool in_transfer = false, in_assign = false;  ///< named under these pragmas
  bool texture = false;                         ///< copyByTexture or copyBindTexture
  std::vector<Box> sums;                        ///< what GSWO_CPU_SUM adds up, by number
  int read_buffer = -1, write_buffer = -1;      ///< in the chain; -1 = none

  bool in_place() const { return read && written; }
  /// Whether each window sets its own pixel.
  bool sets_each_pixel() const { return always_written && !write_z && !write_y && !write_x; }
  std::string output() const { return in_place() ? name + "_out" : name; }
};

enum class Role { value, height, width, depth, turn };

struct Scalar {
  const clang::VarDecl *variable;
  std::string name, type;
  Role role = Role::value;
  bool in_window = false;  ///< the window uses it, not only the bounds of the loops
  bool from_host = false;  ///< computed by the function outside the loops
};

/// A variable or a table of the host, whose parts from all windows are combined.
struct Reduction {
  const clang::VarDecl *variable;
  std::string name, type;  ///< type of its elements
  std::string operation;   ///< a class of kernels/gswo/gswo_reduce.h
  std::string length;      ///< of a table, as text; empty = a single variable
  std::size_t size = 0;    ///< bytes of an element
  long known_length = 0;   ///< if it is a constant, else 0
  bool is_table() const { return !length.empty(); }
};

/// An array that the host fills and windows only read.
struct Table {
  std::string name, type;
  long length;
};

/// A side of the image that windows test. For inner windows, variable + low >= origin and variable
/// + high < origin + size.
struct Edge {
  bool of_row;    ///< top and bottom; else left and right
  int low, high;  ///< offsets that windows read
  int origin;
  std::string size;
  const clang::VarDecl *variable, *size_variable;
  bool is_used = false;  ///< used outside comparisons that GSWO_INNER answers
};

/// Numbers of rows and columns at the edges of an image.
struct Margins {
  long above = 0, below = 0, left = 0, right = 0;
  bool empty() const { return !(above || below || left || right); }
};

struct Kernel {
  std::string name;
  const clang::FunctionDecl *function = nullptr;
  const Pragma *parallel = nullptr, *pragma = nullptr;
  std::vector<Loop> nest;    ///< from the outermost
  int z = -1, y = 0, x = 1;  ///< which of them counts slices (-1 = none), rows and columns
  const clang::Stmt *body = nullptr;
  WindowBody window;
  std::vector<Image> images;
  std::vector<Scalar> scalars;
  std::vector<Reduction> reductions;
  std::vector<Table> tables;  ///< of programs
  std::vector<Edge> edges;
  bool knows_inner = false;  ///< the window's text has GSWO_INNER
  std::map<unsigned, std::string>
      window_locals;  ///< declarations at the window's beginning, by place
  std::map<unsigned, std::string> bound_locals;  ///< declarations that the loops' bounds need
  std::set<std::string> carried;  ///< names that hold the last window's value until they are set
  Edits edits;
  std::set<const clang::FunctionDecl *> functions;  ///< called, as written
  std::set<const clang::VarDecl *> globals;
  std::vector<const clang::Expr *> initialisers;  ///< copied with window_locals and bound_locals
  Edits function_edits;
  /// Copies of functions with a parameter made a constant, by name.
  std::map<std::string, std::string> clones;
  bool sorts = false;  ///< loops of the window became sorting networks; neighbours share rows
  /// Pixels of a block of threads and of a thread.
  int tile_x = 0, tile_y = 0, tile_z = 1, chunk_x = 0, chunk_y = 0, chunk_z = 1;

  bool is_volume() const { return z >= 0; }
  const Loop &slices() const { return nest[z]; }
  const Loop &rows() const { return nest[y]; }
  const Loop &columns() const { return nest[x]; }
  Image *image(const clang::VarDecl *);
  const Reduction *reduction(const clang::VarDecl *) const;
  /// Whether only a program can run it, not an element.
  bool needs_program() const;
  const Scalar *scalar(Role) const;
  /// Whether all loops step by one, so that threads compute neighbouring pixels.
  bool takes_neighbours() const {
    return rows().step == 1 && columns().step == 1 && (!is_volume() || slices().step == 1);
  }
  /// The pixels at the edges that the loops do not reach; nothing if they are not known, or if the
  /// others are not all reached.
  std::optional<Margins> margins(const Unit &) const;
  /// The index of row (column) 0 of the image: a loop from a constant over exactly height (width)
  /// indices runs over a padded image.
  int origin(const Unit &, const Loop &) const;
  /// Iterations of the loop before the first one inside the image.
  int lead(const Unit &, const Loop &) const;
};

/// Every `for` pragma of the file, in order. The source reports errors.
std::vector<std::unique_ptr<Kernel>> find_kernels(Unit &);

// Its steps:
/// Finds the parameters that are Unit::sizes.
void find_sizes(Unit &, const Kernel &);
/// Refuses constants that the types of their parameters can't hold.
void check_constants(const Unit &, const Kernel &);
/// Finds the variables of `reduction`, and refuses windows that use them in other ways.
void find_reductions(const Unit &, Kernel &);
void find_images(const Unit &, Kernel &);
/// Whether every window sets its pixel of an image.
bool always_sets(const Kernel &, const Image &);
/// The pixels of an image that no window of a kernel sets, in words; "" if there are none.
std::string pixels_left_out(const Unit &, const Kernel &, const Image &);
/// Says so in a note. @param source  the image whose pixels they have, "" = they are 0
void note_left_out(const Unit &, const Kernel &, const Image &, const std::string &source);
void find_variables(const Unit &, Kernel &);
void find_functions(const Unit &, Kernel &);
void find_edges(const Unit &, Kernel &);
void find_sorts(const Unit &, Kernel &);
void find_sums(const Unit &, Kernel &);
void find_block(const Unit &, Kernel &);

}  // namespace cudascan::gswo
