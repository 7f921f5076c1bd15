// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Headers of Clang that take most of the translator's time to compile, compiled once. Sources
/// include what they use all the same: -Db_pch=false compiles without this file.
#include <clang/AST/ASTContext.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/ParentMapContext.h>
#include <clang/AST/StmtCXX.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>
