#include "restart/core/store/state_rows.hpp"

#include "restart/core/store/state_fields.hpp"
#include "restart/core/store/state_json.hpp"

#include <fmt/format.h>

namespace restart {
namespace {

constexpr std::string_view rest_key = "rest";

std::string text_of(std::string_view name) {
    return std::string(name);
}
std::string text_of(std::uint64_t id) {
    return std::to_string(id);
}
std::string text_of(base::JobId id) {
    return to_string(id);
}

// Both are sorted by the same key: one pass finds what is new, gone and changed.
template <class Map>
void compare(std::string_view kind, Map& held, const Map& now, std::vector<StateRow>& rows) {
    const auto key = [&](const auto& entry) { return fmt::format("{}/{}", kind, text_of(entry.first)); };
    const auto before = [&](const auto& a, const auto& b) { return held.key_comp()(a->first, b->first); };
    auto old = held.begin();
    for (auto entry = now.begin(); entry != now.end(); ++entry) {
        while (old != held.end() && before(old, entry)) {
            rows.push_back({key(*old), {}});
            old = held.erase(old);
        }
        const bool known = old != held.end() && !before(entry, old);
        if (known && old->second == entry->second) {
            ++old;
            continue;
        }
        rows.push_back({key(*entry), codec::write(entry->second)});
        if (known)
            (old++)->second = entry->second;
        else
            held.emplace_hint(old, *entry);
    }
    while (old != held.end()) {
        rows.push_back({key(*old), {}});
        old = held.erase(old);
    }
}

} // namespace

std::vector<StateRow> StateRows::changes(const State& now) {
    std::vector<StateRow> rows;
    compare("host", held_.hosts, now.hosts, rows);
    compare("job", held_.jobs, now.jobs, rows);
    compare("incident", held_.incidents, now.incidents, rows);
    compare("switch", held_.switches, now.switches, rows);
    compare("program", held_.programs, now.programs, rows);
    codec::Writer writer;
    writer("v", state_version);
    few_fields(writer, now);
    auto rest = base::to_text(std::move(writer).take());
    if (rest != rest_) {
        rows.push_back({std::string(rest_key), rest});
        rest_ = std::move(rest);
    }
    return rows;
}

// The document that to_json() of state_json.hpp would have written, assembled from its parts.
base::Expected<State> state_from_rows(const std::vector<StateRow>& rows) {
    std::string hosts, jobs, incidents, switches, programs, rest;
    for (const auto& row : rows) {
        const auto slash = row.key.find('/');
        const auto kind = row.key.substr(0, slash);
        if (kind == rest_key) {
            rest = row.json;
            continue;
        }
        auto* part = kind == "host"       ? &hosts
                     : kind == "job"      ? &jobs
                     : kind == "incident" ? &incidents
                     : kind == "switch"   ? &switches
                     : kind == "program"  ? &programs
                                          : nullptr;
        if (part == nullptr || slash == std::string::npos)
            return base::Error{base::Code::input, fmt::format("{}: a row of no kind that is known", row.key)};
        const auto name = base::to_text(boost::json::string(row.key.substr(slash + 1)));
        part->append(part->empty() ? "" : ",").append(name).append(":").append(row.json);
    }
    if (!rest.starts_with('{'))
        return base::Error{base::Code::input, fmt::format("{}: the row is missing", rest_key)};
    return state_from_json(fmt::format(
        R"({{"hosts":{{{}}},"jobs":{{{}}},"incidents":{{{}}},"switches":{{{}}},"programs":{{{}}},{})", hosts,
        jobs, incidents, switches, programs, std::string_view(rest).substr(1)));
}

} // namespace restart
