#include "restart/ckpt/import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

namespace restart::ckpt {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::Error;
using base::Expected;

Expected<void> import_file(const fs::path& from, const fs::path& to, Import how) {
    std::error_code failed;
    if (how == Import::link) {
        fs::create_hard_link(from, to, failed);
        if (!failed) return {};
    }
    fs::copy_file(from, to, failed); // the kernel shares or copies the blocks
    if (failed)
        return base::system_error(fmt::format("{} -> {}", from.string(), to.string()), failed.value());
    return {};
}

Expected<void> import_any(const fs::path& from, const fs::path& to, Import how, Imported& imported);

Expected<void> import_children(const fs::path& from, const fs::path& to, Import how, Imported& imported) {
    std::error_code failed;
    for (fs::directory_iterator entry(from, failed), end; !failed && entry != end; entry.increment(failed))
        if (auto ok = import_any(entry->path(), to / entry->path().filename(), how, imported); !ok) return ok;
    if (failed) return base::system_error(from.string(), failed.value());
    return {};
}

Expected<void> import_any(const fs::path& from, const fs::path& to, Import how, Imported& imported) {
    std::error_code failed;
    const auto type = fs::symlink_status(from, failed).type();
    if (type == fs::file_type::not_found)
        return Error{Code::not_found, from.string() + ": no such file or directory"};
    if (type == fs::file_type::regular) {
        imported.files.push_back(from);
        return import_file(from, to, how);
    }
    if (type == fs::file_type::directory) {
        if (!fs::create_directory(to, failed)) return base::system_error(to.string(), failed.value());
        auto ok = import_children(from, to, how, imported);
        imported.directories.push_back(from);
        return ok;
    }
    return Error{Code::usage,
                 fmt::format("{}: is {}: a checkpoint holds regular files and directories only",
                             from.string(),
                             type == fs::file_type::symlink ? "a symbolic link" : "a special file")};
}

} // namespace

Expected<Imported> import_tree(const fs::path& from, const fs::path& to, Import how) {
    std::error_code failed;
    const auto source = fs::canonical(from, failed);
    if (failed || !fs::is_directory(source, failed))
        return Error{Code::not_found, from.string() + ": no such directory"};
    const auto below = fs::weakly_canonical(to, failed).lexically_relative(source);
    if (!below.empty() && *below.begin() != "..")
        return Error{Code::usage,
                     fmt::format("{}: the checkpoint directory stands in it: publish from another directory",
                                 from.string())};
    Imported imported;
    if (auto ok = import_children(source, to, how, imported); !ok) return std::move(ok).error();
    return imported;
}

Expected<Imported> import_files(const std::vector<std::string>& from, const fs::path& to, Import how) {
    Imported imported;
    for (const auto& name : from) {
        fs::path source(name);
        if (!source.has_filename()) source = source.parent_path(); // "dir/"
        const auto last = source.filename();
        if (last.empty() || last == "." || last == "..")
            return Error{
                Code::usage,
                fmt::format("\"{}\" has no name of its own: use --from DIR to publish a directory's files",
                            name)};
        std::error_code ignored;
        if (fs::exists(fs::symlink_status(to / last, ignored)))
            return Error{Code::usage,
                         fmt::format("{}: a file called {} is named already", name, last.string())};
        if (auto ok = import_any(source, to / last, how, imported); !ok) return std::move(ok).error();
    }
    return imported;
}

std::vector<std::string> remove_sources(const Imported& imported) {
    std::vector<std::string> troubles;
    std::error_code failed;
    for (const auto& file : imported.files)
        if (!fs::remove(file, failed) && failed)
            troubles.push_back(base::system_error(file.string(), failed.value()).text);
    for (const auto& directory : imported.directories)
        fs::remove(directory, failed); // not when something else stands there
    return troubles;
}

} // namespace restart::ckpt
