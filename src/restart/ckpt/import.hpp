// Files that a program wrote elsewhere, brought into a staging directory.
#pragma once

#include "base/expected.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace restart::ckpt {

// copy: the source stays and may change later. link: hard links where the file system can, copies elsewhere;
// the caller removes the sources after the commit, so that a failure leaves them where they were.
enum class Import { copy, link };

struct Imported {
    std::vector<std::filesystem::path> files;       // sources
    std::vector<std::filesystem::path> directories; // sources, deepest first
};

// All that stands in the directory `from`, under the same names. Errors: Code::not_found for no such
// directory, Code::usage for a link or special file, Code::io.
base::Expected<Imported> import_tree(const std::filesystem::path& from, const std::filesystem::path& to,
                                     Import how);

// Each file or directory under its last component. Errors as above, and Code::usage for two of one name.
base::Expected<Imported> import_files(const std::vector<std::string>& from, const std::filesystem::path& to,
                                      Import how);

// Removes what was imported; directories only when they are empty then. Says what could not be removed.
std::vector<std::string> remove_sources(const Imported& imported);

} // namespace restart::ckpt
