// Files that a program wrote elsewhere, brought into a staging directory.
#pragma once

#include "base/expected.hpp"
#include "base/file.hpp"

#include <filesystem>
#include <set>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace restart::ckpt {

// Whether the file is as it was when `info` was had of it after it was opened, which has a network file
// system ask for its attributes anew: size and time of the last change.
bool is_unchanged(int fd, const struct stat& info);

// copy: the source stays and may change later; blocks are shared where the file system can. link: the source
// is to become the checkpoint's file. It is linked when its name is the only one it has, can be removed, and
// no process has it open for writing, as far as the file system can report that; else it is copied, because
// published files must not be written to. The caller removes the sources after the commit, so that a failure
// leaves them where they were.
enum class Import { copy, link };

struct ImportedFile {
    std::filesystem::path path;
    std::string name; // in the checkpoint
    base::FileStamp stamp;
    bool linked = false;
};

struct Imported {
    std::filesystem::path root; // where to
    std::vector<ImportedFile> files;
    std::vector<std::filesystem::path> directories; // sources, deepest first
    std::set<std::string> linked() const;           // names in the checkpoint
};

// Everything in the directory `from`, under the same names. Errors: Code::not_found for no such directory,
// Code::usage for a symbolic link or special file, Code::io.
base::Expected<Imported> import_tree(const std::filesystem::path& from, const std::filesystem::path& to,
                                     Import how);

// Each file or directory under its last component. Errors as above, and Code::usage for two of one name.
base::Expected<Imported> import_files(const std::vector<std::string>& from, const std::filesystem::path& to,
                                      Import how);

// Makes `path`, a file in a staging directory, independent: a copy replaces it, so that its other names and
// processes that have it open for writing no longer reach it. Error: Code::io.
base::Expected<void> part(const std::filesystem::path& path);

// Removes what was imported, unless another file has its name by now or it has changed; directories only when
// they are then empty. Returns what could not be removed.
std::vector<std::string> remove_sources(const Imported& imported);

} // namespace restart::ckpt
