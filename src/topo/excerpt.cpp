#include "topo/excerpt.hpp"

#include "base/file.hpp"
#include "base/json.hpp"
#include "base/private_folder.hpp"
#include "base/unique_fd.hpp"
#include "topo/export/tree.hpp"
#include "topo/fabric_json.hpp"
#include "topo/guid.hpp"
#include "topo/json_walk.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <set>
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace topo {
namespace {

using base::Code;
using base::Error;
using base::Expected;

using Guids = std::set<Guid>;

// Whether a string in the element may be one of these GUIDs. A quick filter: it excludes most elements.
bool may_name(std::string_view element, const Guids& guids) {
    for (auto quote = element.find('"'); quote != element.npos;) {
        const auto end = element.find('"', quote + 1);
        if (end == element.npos) return false;
        const auto guid = parse_guid(element.substr(quote + 1, end - quote - 1));
        if (guid && guids.count(*guid) != 0) return true;
        quote = element.find('"', end + 1);
    }
    return false;
}

namespace json = boost::json;

std::optional<Guid> guid_in(const json::value& value) {
    if (!value.is_string()) return {};
    return parse_guid(std::string_view(value.get_string()));
}

const json::value* member(const json::value& value, std::string_view key) {
    const auto* object = value.if_object();
    return object == nullptr ? nullptr : object->if_contains(key);
}

Guids guids_of_hcas(std::string_view element) {
    Guids guids;
    const auto host = base::parse_json(element);
    const auto* hcas = host ? member(*host, "hcas") : nullptr;
    if (hcas == nullptr || !hcas->is_array()) return guids;
    for (const auto& hca : hcas->get_array())
        if (const auto* said = member(hca, "guid"))
            if (const auto guid = guid_in(*said)) guids.insert(*guid);
    return guids;
}

std::optional<std::pair<Guid, Guid>> ends_of(std::string_view element) {
    const auto link = base::parse_json(element);
    const auto* ends = link ? member(*link, "ends") : nullptr;
    if (ends == nullptr || !ends->is_array() || ends->get_array().size() != 2) return {};
    std::optional<Guid> guids[2];
    for (std::size_t i = 0; i < 2; ++i) {
        const auto* end = ends->get_array()[i].if_array();
        if (end != nullptr && !end->empty()) guids[i] = guid_in((*end)[0]);
    }
    if (!guids[0] || !guids[1]) return {};
    return std::pair(*guids[0], *guids[1]);
}

std::optional<Guid> guid_of_switch(std::string_view element) {
    const auto parsed = base::parse_json(element);
    const auto* said = parsed ? member(*parsed, "guid") : nullptr;
    return said == nullptr ? std::nullopt : guid_in(*said);
}

// The host's text, if `element` is that host.
bool is_host(std::string_view element, std::string_view host) {
    if (element.find(host) == element.npos) return false;
    const auto parsed = base::parse_json(element);
    if (!parsed) return false;
    const auto* object = parsed->if_object();
    const auto* name = object == nullptr ? nullptr : object->if_contains("name");
    return name != nullptr && name->is_string() && std::string_view(name->get_string()) == host;
}

void append(std::string& list, std::string_view element) {
    if (!list.empty()) list += ',';
    list += element;
}

// The members of the file's object; for the large ones, their positions.
struct Parts {
    std::string version; // text
    std::uint64_t switches = 0, links = 0;
    std::string host; // text of the host's element; empty: it is not in the file
    bool closed = false;
};

Parts find_parts(JsonWalk& walk, std::string_view host) {
    Parts parts;
    std::string key;
    if (!walk.take('{')) return parts;
    if ((parts.closed = walk.take('}'))) return parts;
    do {
        if (!walk.string(key) || !walk.take(':')) return parts;
        const auto place = walk.place();
        if (key == "hosts") {
            parts.host.clear();
            walk.elements([&](std::string_view element) {
                if (!is_host(element, host)) return true;
                parts.host = element;
                return false;
            });
        } else {
            walk.value(key == "railyard_fabric" ? &parts.version : nullptr);
            if (key == "switches") parts.switches = place;
            if (key == "links") parts.links = place;
        }
        if (walk.failed()) return parts;
    } while (walk.take(','));
    parts.closed = walk.take('}');
    return parts;
}

// The host's element, its links and the switches at their other ends as a separate file.
std::optional<std::string> excerpt_text(JsonWalk& walk, const Parts& parts) {
    std::string links, switches;
    const auto hcas = guids_of_hcas(parts.host);
    struct Cable {
        std::string text;
        Guid far; // at its other end
    };
    std::vector<Cable> cables;
    Guids far, leaves;
    const auto each = [&](std::uint64_t place, auto visit) {
        if (place == 0) return;
        walk.go_to(place);
        walk.elements(visit);
    };
    if (!parts.host.empty()) {
        each(parts.links, [&](std::string_view element) {
            if (!may_name(element, hcas)) return true;
            const auto ends = ends_of(element);
            if (!ends) return true;
            const bool first = hcas.count(ends->first) != 0;
            if (!first && hcas.count(ends->second) == 0) return true;
            cables.push_back({std::string(element), first ? ends->second : ends->first});
            far.insert(cables.back().far);
            return true;
        });
        each(parts.switches, [&](std::string_view element) {
            if (!may_name(element, far)) return true;
            const auto guid = guid_of_switch(element);
            if (!guid || far.count(*guid) == 0) return true;
            leaves.insert(*guid);
            append(switches, element);
            return true;
        });
    }
    if (walk.failed()) return {};
    for (const auto& cable : cables) // a cable to another host leads out of the excerpt
        if (leaves.count(cable.far) != 0 || hcas.count(cable.far) != 0) append(links, cable.text);
    return fmt::format("{{{}\"switches\":[{}],\"hosts\":[{}],\"links\":[{}]}}",
                       parts.version.empty() ? std::string()
                                             : fmt::format("\"railyard_fabric\":{},", parts.version),
                       switches, parts.host, links);
}

Expected<Excerpt> excerpt_of(JsonWalk& walk, std::string_view host, std::string_view name) {
    const auto parts = find_parts(walk, host);
    const auto digest = parts.closed ? walk.digest_to_end() : 0;
    const auto text = parts.closed ? excerpt_text(walk, parts) : std::nullopt;
    if (!text)
        return Error{Code::input, fmt::format("{}: is no whole JSON text in the form of fabric.json(5); "
                                              "railtopo check shows where",
                                              name)};
    auto fabric = parse_fabric(*text, name);
    if (!fabric) return std::move(fabric).error();
    return Excerpt{*std::move(fabric), format_guid(digest).substr(2)};
}

// The first line that kept_excerpt() puts in front of an excerpt from this version of the file; empty: no
// such file.
std::string first_line(const std::filesystem::path& path) {
    const auto stamp = base::stamp_of(path);
    if (stamp == base::FileStamp{}) return {};
    return fmt::format("excerpt of {} {} {} {} {}.{:09} ", path.string(), stamp.device, stamp.inode,
                       stamp.size, stamp.seconds, stamp.nanoseconds);
}

std::optional<Excerpt> read_copy(const std::string& copy, const std::string& stamp) {
    const auto text = base::read_file(copy, std::size_t{1} << 22);
    if (!text || !text->starts_with(stamp)) return {};
    const auto end = text->find('\n', stamp.size());
    if (end == text->npos) return {};
    auto fabric = parse_fabric(std::string_view(*text).substr(end + 1), copy);
    if (!fabric) return {};
    return Excerpt{*std::move(fabric), text->substr(stamp.size(), end - stamp.size())};
}

} // namespace

Expected<Excerpt> parse_excerpt(std::string_view text, std::string_view host, std::string_view name) {
    JsonWalk walk(text);
    return excerpt_of(walk, host, name);
}

Expected<Excerpt> read_excerpt(const std::filesystem::path& path, std::string_view host) {
    const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat before {};
    struct stat after {};
    if (!fd || ::fstat(fd.get(), &before) != 0) return base::system_error(path.string(), errno);
    if (S_ISDIR(before.st_mode)) return Error{Code::io, path.string() + ": is a directory"};
    JsonWalk walk(fd.get());
    auto excerpt = excerpt_of(walk, host, path.string());
    // It is read in several passes: if it was overwritten in between, the text is invalid.
    if (::fstat(fd.get(), &after) == 0 &&
        (after.st_size != before.st_size || after.st_mtim.tv_sec != before.st_mtim.tv_sec ||
         after.st_mtim.tv_nsec != before.st_mtim.tv_nsec))
        return Error{Code::io, path.string() + ": was written over while it was read; read it again"};
    return excerpt;
}

Expected<Excerpt> kept_excerpt(const std::filesystem::path& path, const std::string& host,
                               const std::string& folder) {
    const auto stamp = first_line(path); // before reading
    const bool keep =
        !stamp.empty() && !folder.empty() && exports::safe_name(host) && base::private_folder(folder);
    const auto copy = fmt::format("{}/fabric-{}", folder, host);
    if (keep)
        if (auto kept = read_copy(copy, stamp)) return *std::move(kept);
    auto excerpt = read_excerpt(path, host);
    if (excerpt && keep) // otherwise the next one reads the whole file again
        static_cast<void>(
            base::write_file_if_changed(copy, stamp + excerpt->digest + '\n' + print_fabric(excerpt->fabric))
                .has_value());
    return excerpt;
}

} // namespace topo
