#include "restart/daemon/lease_folder.hpp"

#include "base/file.hpp"
#include "base/json.hpp"
#include "base/unique_fd.hpp"
#include "base/units.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <vector>

namespace restart {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest = 4096;
constexpr std::uint64_t kept_epochs = 16; // for display, and for claims made long ago

std::optional<std::uint64_t> epoch_of(std::string_view name) {
    const auto number = base::parse_count(name);
    return number ? std::optional(*number) : std::nullopt;
}

base::Expected<std::vector<std::string>> names_in(const fs::path& folder) {
    struct Close {
        void operator()(DIR* open) const { ::closedir(open); }
    };
    const std::unique_ptr<DIR, Close> open(::opendir(folder.c_str()));
    if (!open && errno == ENOENT) return std::vector<std::string>();
    if (!open) return base::system_error(folder.string(), errno);
    std::vector<std::string> names;
    errno = 0;
    while (const auto* entry = ::readdir(open.get()))
        names.emplace_back(entry->d_name);
    if (errno != 0) return base::system_error(folder.string(), errno);
    return names;
}

} // namespace

std::string print(const LeaseRecord& record) {
    return base::to_text(boost::json::object{{"v", 1},
                                             {"owner", record.owner},
                                             {"host", record.host},
                                             {"url", record.url},
                                             {"boot", record.boot},
                                             {"beat", record.beat},
                                             {"released", record.released}}) +
           "\n";
}

LeaseRecord parse_lease(std::uint64_t epoch, std::string_view text) {
    LeaseRecord record;
    record.epoch = epoch;
    record.owner = std::string("?").append(text.substr(0, 64));
    const auto document = base::parse_json(text, 2);
    if (!document) return record;
    const base::Reader read(*document);
    const auto beat = read.integer("beat");
    const auto owner = read.text("owner"), host = read.text("host"), url = read.text("url"),
               boot = read.text("boot");
    const auto released = read.boolean("released");
    if (!beat || !owner || !host || !url || !boot || !released) return record;
    return {epoch, *owner, *host, *url, *boot, static_cast<std::uint64_t>(*beat), *released};
}

LeaseFolder::LeaseFolder(fs::path path, std::string_view owner)
    : path_(std::move(path)), prepared_(path_ / fmt::format("new.{}", owner)) {}

fs::path LeaseFolder::file_of(std::uint64_t epoch) const {
    return path_ / std::to_string(epoch);
}

base::Expected<std::optional<LeaseRecord>> LeaseFolder::look() const {
    const auto names = names_in(path_);
    if (!names) return names.error();
    std::optional<std::uint64_t> last;
    for (const auto& name : *names)
        last = std::max(last, epoch_of(name));
    if (!last) return std::optional<LeaseRecord>();
    const base::UniqueFd fd(::open(file_of(*last).c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return base::system_error(file_of(*last).string(), errno);
    std::string text(largest, '\0');
    const auto size = ::pread(fd.get(), text.data(), text.size(), 0);
    if (size < 0) return base::system_error(file_of(*last).string(), errno);
    text.resize(static_cast<std::size_t>(size));
    return std::optional(parse_lease(*last, text));
}

base::Expected<void> LeaseFolder::prepare(const LeaseRecord& record) const {
    if (::mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST)
        return base::system_error(path_.string(), errno);
    auto text = print(record);
    const base::UniqueFd fd(::open(prepared_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    struct stat about {};
    if (!fd || ::fstat(fd.get(), &about) != 0) return base::system_error(prepared_.string(), errno);
    // Written over the existing content, for which a full disk has room: the rest is filled with blanks.
    if (about.st_size > static_cast<off_t>(largest)) {
        if (::ftruncate(fd.get(), 0) != 0) return base::system_error(prepared_.string(), errno);
    } else {
        text.resize(std::max(text.size(), static_cast<std::size_t>(about.st_size)), ' ');
    }
    const auto written = ::write(fd.get(), text.data(), text.size());
    if (written < 0 || ::fsync(fd.get()) != 0) return base::system_error(prepared_.string(), errno);
    if (static_cast<std::size_t>(written) != text.size())
        return base::system_error(prepared_.string(), ENOSPC);
    return {};
}

// The server may answer EEXIST for a link that it made, if its first answer was lost.
base::Expected<bool> LeaseFolder::claim(const LeaseRecord& record, Time& begin) const {
    begin = LeaseClock::now();
    if (auto done = prepare(record); !done) return std::move(done).error();
    begin = LeaseClock::now();
    const auto file = file_of(record.epoch);
    if (::link(prepared_.c_str(), file.c_str()) != 0 && errno != EEXIST)
        return base::system_error(file.string(), errno);
    const auto last = look();
    if (!last) return last.error();
    return *last == record;
}

base::Expected<bool> LeaseFolder::renew(const LeaseRecord& record, Time& begin) const {
    begin = LeaseClock::now();
    if (auto done = prepare(record); !done) return std::move(done).error();
    begin = LeaseClock::now();
    const auto before = look();
    if (!before) return before.error();
    if (!*before || (*before)->epoch != record.epoch || (*before)->owner != record.owner) return false;
    const auto file = file_of(record.epoch);
    // They are exchanged, so that the next renewal needs no new file; replaced if the storage cannot do this.
    if (::renameat2(AT_FDCWD, prepared_.c_str(), AT_FDCWD, file.c_str(), RENAME_EXCHANGE) != 0 &&
        ::rename(prepared_.c_str(), file.c_str()) != 0)
        return base::system_error(file.string(), errno);
    const auto after = look();
    if (!after) return after.error();
    return *after == record;
}

void LeaseFolder::clear(std::uint64_t epoch) const {
    for (const auto& name : names_in(path_).value_or(std::vector<std::string>())) {
        const auto number = epoch_of(name);
        const bool old = number && *number + kept_epochs < epoch;
        if (old || name.starts_with("new.")) ::unlink((path_ / name).c_str());
    }
}

void LeaseFolder::clear_own() const {
    ::unlink(prepared_.c_str());
}

} // namespace restart
