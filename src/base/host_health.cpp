#include "base/host_health.hpp"

#include "base/json.hpp"
#include "base/units.hpp"

#include <cmath>
#include <utility>

namespace base {
namespace {

constexpr int version = 1;

Expected<HealthFile> read(const Reader& document) {
    if (auto known = document.integer_in("v", version, version); !known) return std::move(known).error();
    HealthFile file;
    const auto written = document.number("written");
    if (!written) return written.error();
    if (*written < 0 || *written > 1e11) return document.error("written: is no time in seconds");
    file.written = time_from_seconds(*written);
    const auto hosts = document.at("hosts");
    if (!hosts) return hosts.error();
    const auto members = hosts->members();
    if (!members) return members.error();
    for (const auto& [name, entry] : *members) {
        const auto health = entry.number("health");
        if (!health) return health.error();
        if (*health < 0 || *health > 1) return entry.error("health: is not between 0 and 1");
        auto why = entry.text("why");
        if (!why) return why.error();
        file.hosts[name] = {static_cast<float>(*health), *std::move(why)};
    }
    if (document.has("spare_floor")) {
        const auto floor = document.integer_in("spare_floor", 0, 1 << 24);
        if (!floor) return floor.error();
        const auto risk = document.number("spare_risk");
        if (!risk) return risk.error();
        file.spare_floor = SpareFloor{static_cast<std::uint32_t>(*floor), *risk};
    }
    if (document.has("saved")) {
        const auto saved = document.at("saved");
        if (!saved) return saved.error();
        const auto jobs = saved->members();
        if (!jobs) return jobs.error();
        for (const auto& [name, entry] : *jobs) {
            const auto job = parse_count(name);
            const auto at = saved->number(name);
            if (!at) return at.error();
            if (!job || *job > UINT32_MAX || *at < 0 || *at > 1e11)
                return saved->error(name + ": is no job's number with a time in seconds");
            file.saved[static_cast<std::uint32_t>(*job)] = time_from_seconds(*at);
        }
    }
    return file;
}

} // namespace

std::filesystem::path health_path(const PlacementConf& placement, const RestartdConf& restartd) {
    if (!placement.health.empty()) return placement.health;
    return std::filesystem::path(restartd.journal).replace_filename("health.json");
}

std::string print_health(const HealthFile& file) {
    boost::json::object hosts;
    for (const auto& [name, host] : file.hosts) // placement uses thousandths
        hosts[name] = {{"health", std::round(double{host.health} * 1000) / 1000}, {"why", host.why}};
    boost::json::object out{
        {"v", version}, {"written", to_seconds(file.written)}, {"hosts", std::move(hosts)}};
    if (file.spare_floor) {
        out["spare_floor"] = file.spare_floor->hosts;
        out["spare_risk"] = file.spare_floor->risk;
    }
    if (!file.saved.empty()) {
        boost::json::object saved;
        for (const auto& [job, at] : file.saved)
            saved[std::to_string(job)] = std::floor(to_seconds(at));
        out["saved"] = std::move(saved);
    }
    return to_pretty(out);
}

Expected<HealthFile> parse_health(std::string_view text, std::string_view name) {
    const auto document = parse_json(text);
    if (!document) return Error(document.error()).within(name);
    auto file = read(Reader(*document));
    if (!file) return std::move(file).error().within(name);
    return file;
}

} // namespace base
