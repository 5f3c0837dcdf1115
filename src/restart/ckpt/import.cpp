#include "restart/ckpt/import.hpp"

#include "base/unique_fd.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace restart::ckpt {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::Error;
using base::Expected;

// The rest of `from`, by read and write.
bool copy_through_memory(int from, int to) {
    std::vector<char> block(std::size_t{1} << 20);
    for (;;) {
        const auto n = ::read(from, block.data(), block.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n == 0;
        for (std::string_view left(block.data(), static_cast<std::size_t>(n)); !left.empty();) {
            const auto written = ::write(to, left.data(), left.size());
            if (written < 0 && errno == EINTR) continue;
            if (written < 0) return false;
            left.remove_prefix(static_cast<std::size_t>(written));
        }
    }
}

// In the kernel, which shares the blocks where the file system can. False: errno says why. (std::filesystem's
// copy_file reports a full disk as EIO.)
bool copy(int from, int to) {
    constexpr std::size_t at_once = std::size_t{1} << 30;
    for (bool copied = false;; copied = true) {
        const auto n = ::copy_file_range(from, nullptr, to, nullptr, at_once, 0);
        if (n > 0 || (n < 0 && errno == EINTR)) continue;
        // Nothing copied: between file systems, or from one such as /proc that claims to hold nothing.
        const bool unable =
            n == 0 || errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
        return copied || !unable ? n == 0 : copy_through_memory(from, to);
    }
}

Expected<void> import_file(const fs::path& from, const fs::path& to, Import how) {
    if (how == Import::link && ::link(from.c_str(), to.c_str()) == 0) return {};
    const base::UniqueFd source(::open(from.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (!source) return base::system_error(from.string(), errno);
    struct stat info {};
    if (::fstat(source.get(), &info) != 0) return base::system_error(from.string(), errno);
    const base::UniqueFd target(
        ::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, info.st_mode & 0777));
    if (!target) return base::system_error(to.string(), errno);
    if (!copy(source.get(), target.get()))
        return base::system_error(fmt::format("{} -> {}", from.string(), to.string()), errno);
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
