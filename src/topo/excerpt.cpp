#include "topo/excerpt.hpp"

#include "base/file.hpp"
#include "base/json.hpp"
#include "topo/fabric_json.hpp"
#include "topo/guid.hpp"

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace topo {
namespace {

using base::Code;
using base::Error;
using base::Expected;

// Walks JSON text by its brackets and strings only.
class Cursor {
public:
    explicit Cursor(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

    bool failed() const { return failed_; }

    // Skips blanks; true and past it when `c` is next.
    bool take(char c) {
        blanks();
        if (at_ == end_ || *at_ != c) return false;
        ++at_;
        return true;
    }

    // The text of a string without its quotes, escapes as they stand.
    std::string_view string() {
        if (!take('"')) return fail();
        const char* begin = at_;
        if (!past_string()) return fail();
        return {begin, static_cast<std::size_t>(at_ - 1 - begin)};
    }

    // The text of any value.
    std::string_view value() {
        blanks();
        const char* begin = at_;
        std::size_t depth = 0;
        for (; at_ != end_; ++at_) {
            switch (*at_) {
            case '"':
                ++at_;
                if (!past_string()) return fail();
                --at_;
                break;
            case '{':
            case '[': ++depth; continue;
            case '}':
            case ']':
                if (depth == 0) return since(begin);
                --depth;
                break;
            case ',':
                if (depth == 0) return since(begin);
                continue;
            default: continue;
            }
            if (depth == 0) {
                ++at_;
                return since(begin);
            }
        }
        return depth == 0 ? since(begin) : fail();
    }

    // Calls visit(text of the element) for each element of an array; visit returns false to stop.
    template <class Visit> void elements(Visit visit) {
        if (!take('[')) return void(fail());
        if (take(']')) return;
        do {
            const auto element = value();
            if (failed_ || !visit(element)) return;
        } while (take(','));
        if (!take(']')) fail();
    }

private:
    void blanks() {
        while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r'))
            ++at_;
    }
    // From behind the opening quote to behind the closing one.
    bool past_string() {
        for (;;) {
            const auto* quote =
                static_cast<const char*>(std::memchr(at_, '"', static_cast<std::size_t>(end_ - at_)));
            if (quote == nullptr) return false;
            std::size_t slashes = 0;
            for (const char* back = quote; back != at_ && back[-1] == '\\'; --back)
                ++slashes;
            at_ = quote + 1;
            if (slashes % 2 == 0) return true;
        }
    }
    std::string_view since(const char* begin) const { return {begin, static_cast<std::size_t>(at_ - begin)}; }
    std::string_view fail() {
        failed_ = true;
        return {};
    }

    const char* at_;
    const char* end_;
    bool failed_ = false;
};

using Guids = std::set<Guid>;

// Whether a string of the element may be one of these GUIDs. Quick: most elements are passed over by it.
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

struct Parts {
    std::string_view version, source, switches, hosts, links;
};

std::optional<Parts> parts_of(std::string_view text) {
    Parts parts;
    const std::pair<std::string_view, std::string_view*> known[] = {{"railyard_fabric", &parts.version},
                                                                    {"source", &parts.source},
                                                                    {"switches", &parts.switches},
                                                                    {"hosts", &parts.hosts},
                                                                    {"links", &parts.links}};
    Cursor cursor(text);
    if (!cursor.take('{')) return {};
    if (cursor.take('}')) return parts;
    do {
        const auto key = cursor.string();
        if (cursor.failed() || !cursor.take(':')) return {};
        const auto value = cursor.value();
        if (cursor.failed()) return {};
        for (const auto& [name, part] : known)
            if (key == name) *part = value;
    } while (cursor.take(','));
    if (!cursor.take('}')) return {};
    return parts;
}

// The host's text, when `element` is it.
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

} // namespace

Expected<Fabric> parse_excerpt(std::string_view text, std::string_view host, std::string_view name) {
    const auto parts = parts_of(text);
    bool closed = parts.has_value();
    std::string hosts, links, switches;
    const auto each = [&closed](std::string_view list, auto visit) {
        if (list.empty()) return;
        Cursor cursor(list);
        cursor.elements(visit);
        closed = closed && !cursor.failed();
    };
    if (closed)
        each(parts->hosts, [&](std::string_view element) {
            if (!is_host(element, host)) return true;
            hosts = element;
            return false;
        });
    if (closed && !hosts.empty()) {
        const auto hcas = guids_of_hcas(hosts);
        struct Cable {
            std::string_view text;
            Guid far; // at its other end
        };
        std::vector<Cable> cables;
        Guids far, leaves;
        each(parts->links, [&](std::string_view element) {
            if (!may_name(element, hcas)) return true;
            const auto ends = ends_of(element);
            if (!ends) return true;
            const bool first = hcas.count(ends->first) != 0;
            if (!first && hcas.count(ends->second) == 0) return true;
            cables.push_back({element, first ? ends->second : ends->first});
            far.insert(cables.back().far);
            return true;
        });
        each(parts->switches, [&](std::string_view element) {
            if (!may_name(element, far)) return true;
            const auto guid = guid_of_switch(element);
            if (!guid || far.count(*guid) == 0) return true;
            leaves.insert(*guid);
            append(switches, element);
            return true;
        });
        for (const auto& cable : cables) // one to another host leads out of the excerpt
            if (leaves.count(cable.far) != 0 || hcas.count(cable.far) != 0) append(links, cable.text);
    }
    if (!closed)
        return Error{Code::input, fmt::format("{}: is no whole JSON text in the form of fabric.json(5); "
                                              "railtopo check shows where",
                                              name)};
    return parse_fabric(fmt::format("{{{}\"switches\":[{}],\"hosts\":[{}],\"links\":[{}]}}",
                                    parts->version.empty()
                                        ? std::string()
                                        : fmt::format("\"railyard_fabric\":{},", parts->version),
                                    switches, hosts, links),
                        name);
}

Expected<Fabric> read_excerpt(const std::filesystem::path& path, std::string_view host) {
    const auto text = base::read_file(path);
    if (!text) return text.error();
    return parse_excerpt(*text, host, path.string());
}

} // namespace topo
