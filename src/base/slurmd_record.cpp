#include "base/slurmd_record.hpp"

#include "base/file.hpp"
#include "base/json.hpp"
#include "base/private_folder.hpp"
#include "base/unique_fd.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <fcntl.h>
#include <set>
#include <sstream>
#include <sys/file.h>

namespace base {
namespace {

constexpr std::size_t most_bytes = 4096, most_plugins = 16, most_name = 64;

std::string path_in(const std::string& folder) {
    return folder + "/slurmd.json";
}

bool is_name(const std::string& text) {
    return !text.empty() && text.size() <= most_name &&
           std::all_of(text.begin(), text.end(), [](unsigned char c) {
               return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-';
           });
}

Expected<SlurmdRecord> parse(const std::string& text, const std::string& path) {
    const auto json = parse_json(text);
    if (!json) return base::Error(json.error()).within(path);
    const Reader reader(*json, path);
    SlurmdRecord record;
    auto plugins = reader.at("plugins");
    if (!plugins) return std::move(plugins).error();
    auto items = plugins->items();
    if (!items) return std::move(items).error();
    if (items->size() > most_plugins) return plugins->error("has too many elements");
    for (const auto& item : *items) {
        auto name = item.text();
        if (!name) return std::move(name).error();
        if (!is_name(*name)) return item.error("is no name of a plugin");
        record.plugins.push_back(*std::move(name));
    }
    return record;
}

} // namespace

SlurmdRecord slurmd_record(std::string_view maps) {
    std::set<std::string> names;
    std::istringstream lines{std::string(maps)};
    for (std::string line; std::getline(lines, line);) {
        const auto slash = line.rfind('/');
        if (slash == std::string::npos) continue;
        auto name = line.substr(slash + 1);
        name.resize(std::min(name.find(".so"), name.size()));
        if (name.ends_with("_rail")) names.insert(std::move(name));
    }
    return {{names.begin(), names.end()}};
}

Expected<void> write_slurmd_record(const std::string& folder, const SlurmdRecord& record) {
    if (auto made = private_folder(folder); !made) return made;
    boost::json::array plugins;
    for (const auto& name : record.plugins)
        plugins.emplace_back(name);
    const auto path = path_in(folder);
    const auto text = to_text(boost::json::object{{"plugins", std::move(plugins)}});
    // For root only: whoever can open it could hold the lock.
    if (auto written = write_file(path, text + "\n", 0600); !written) return written;
    static UniqueFd held;
    held = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!held || ::flock(held.get(), LOCK_SH) != 0) return system_error(path, errno);
    return {};
}

Expected<SlurmdRecord> read_slurmd_record(const std::string& folder) {
    const auto path = path_in(folder);
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return system_error(path, errno);
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0)
        return Error{Code::not_found, path + ": the slurmd that wrote it is over"};
    const auto text = read_file(path, most_bytes);
    if (!text) return text.error();
    return parse(*text, path);
}

} // namespace base
