#include "sched/advise/placement_files.hpp"

#include "base/hostlist.hpp"
#include "base/units.hpp"
#include "topo/fabric_json.hpp"

#include <fmt/format.h>

#include <csignal>
#include <malloc.h>
#include <pthread.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sched {
namespace {

struct NoSignals {
    NoSignals() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
    }
    ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
    NoSignals(const NoSignals&) = delete;
    NoSignals& operator=(const NoSignals&) = delete;
    sigset_t before{};
};

// A value that is out of bounds in another table does not prevent advice.
constexpr base::ConfTables needs{base::ConfTable::placement, base::ConfTable::checkpoint};

constexpr std::size_t most_health = std::size_t{16} << 20; // bytes

} // namespace

PlacementFiles::PlacementFiles(Callbacks callbacks, std::chrono::milliseconds interval)
    : callbacks_(std::move(callbacks)), interval_(interval) {
    conf_file_.path = base::conf_path("");
    conf_file_.changed();
    look(true);
    const std::lock_guard lock(mutex_);
    start();
}

PlacementFiles::~PlacementFiles() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void PlacementFiles::reload() noexcept {
    {
        const std::lock_guard lock(mutex_);
        reload_ = true;
        if (!thread_.joinable()) start();
    }
    wake_.notify_all();
}

void PlacementFiles::start() noexcept {
    const NoSignals blocked; // signals are left to the other threads of the process
    try {
        thread_ = std::thread([this] { watch(); });
        pthread_setname_np(thread_.native_handle(), "rail_files");
    } catch (...) {
        complain("the fabric and health files are not watched for changes: no thread could be started");
    }
}

void PlacementFiles::watch() noexcept {
    std::unique_lock lock(mutex_);
    while (!stop_) {
        wake_.wait_for(lock, interval_, [this] { return stop_ || reload_; });
        if (stop_) return;
        const bool reload = std::exchange(reload_, false);
        lock.unlock();
        look(reload);
        lock.lock();
    }
}

void PlacementFiles::look(bool reload) noexcept {
    try {
        if (conf_file_.changed() || reload || failed_) find_paths();
        look_at_fabric();
        look_at_health();
        failed_ = false;
    } catch (...) { // most likely out of memory
        conf_file_.fresh = fabric_.fresh = health_.fresh = true;
        if (!std::exchange(failed_, true))
            complain("the fabric and health files could not be read, for want of memory; tried again every "
                     "second");
    }
}

void PlacementFiles::complain(std::string_view what) noexcept {
    try {
        callbacks_.log(Level::error, std::string(what));
    } catch (...) { // not even logging is possible
        return;
    }
}

void PlacementFiles::find_paths() {
    auto conf = base::load_conf("", needs);
    if (!conf) {
        say(conf_file_, Level::error,
            fmt::format(
                "{}; {}", conf.error().text,
                fabric_.path.empty()
                    ? fmt::format("nodes are chosen by {} alone until this is mended", callbacks_.manager)
                    : "the former configuration stays"));
        return;
    }
    if (!conf_file_.said.empty())
        say(conf_file_, Level::info, fmt::format("{} is sound again", conf_file_.path.string()));
    conf_ = *std::move(conf);
    fabric_.path = conf_.placement.fabric;
    if (callbacks_.health || callbacks_.spares)
        health_.path = base::health_path(conf_.placement, conf_.restartd);
    fabric_.fresh = health_.fresh = true;
}

bool PlacementFiles::Watched::changed() {
    const auto now = base::stamp_of(path);
    if (!std::exchange(fresh, false) && now == stamp) return false;
    stamp = now;
    return true;
}

void PlacementFiles::look_at_fabric() {
    if (fabric_.path.empty() || !fabric_.changed()) return;
    auto fabric = topo::read_fabric(fabric_.path);
    if (!fabric) {
        say(fabric_, Level::error,
            fmt::format("{}; {}", fabric.error().text,
                        have_fabric_
                            ? "the last good fabric stays in use"
                            : fmt::format("nodes are chosen by {} alone until there is one (railtopo "
                                          "discover)",
                                          callbacks_.manager)));
        return;
    }
    say(fabric_, Level::info,
        fmt::format("fabric {}: {} hosts, {} units, {} pods", fabric_.path.string(), fabric->hosts.size(),
                    fabric->units.size(), fabric->pods.size()));
    have_fabric_ = callbacks_.fabric(*std::move(fabric), conf_) || have_fabric_;
    // The file's tree and the fabric are far larger than what is kept of them: return the memory to the
    // system.
    fabric = base::Error{};
#ifdef __GLIBC__
    ::malloc_trim(0);
#endif
}

void PlacementFiles::look_at_health() {
    if (health_.path.empty()) return;
    if (health_.changed()) {
        if (health_.stamp == base::FileStamp{})
            return take_health({}); // restartd was never started, or has removed it
        auto file = base::read_file(health_.path, most_health);
        auto read = file ? base::parse_health(*file, health_.path.string())
                         : base::Expected<base::HealthFile>(std::move(file).error());
        if (read) return take_health(*std::move(read));
        say(health_, Level::error, read.error().text + "; hosts are avoided as it said before");
    }
    if ((!avoided_.empty() || spares_ || !saved_.empty()) &&
        base::now() - health_written_ > base::health_lapses) {
        say(health_, Level::error,
            fmt::format("{} was not written for {}: no host is avoided, and spares are as configured, until "
                        "restartd writes it again",
                        health_.path.string(), base::format_duration(base::health_lapses)));
        take_hosts({});
        take_spares({});
        take_saved({});
    }
}

void PlacementFiles::take_health(base::HealthFile file) {
    health_written_ = file.written;
    const bool lapsed = base::now() - file.written > base::health_lapses;
    take_spares(lapsed ? std::nullopt : file.spare_floor);
    if (lapsed) file.hosts.clear();
    take_saved(lapsed ? base::SavedMap() : std::move(file.saved));
    if (!take_hosts(std::move(file.hosts))) return;
    std::vector<std::string> names;
    for (const auto& [name, host] : avoided_)
        names.push_back(name);
    say(health_, Level::info,
        names.empty() ? "no host is to be avoided"
                      : fmt::format("avoided where there is a choice: {}", base::fold_hostlist(names)));
}

bool PlacementFiles::take_hosts(base::HealthMap hosts) {
    if (!callbacks_.health || hosts == avoided_) return false;
    callbacks_.health(base::HealthMap(hosts));
    avoided_ = std::move(hosts);
    return true;
}

void PlacementFiles::take_spares(const std::optional<base::SpareFloor>& spares) {
    if (!callbacks_.spares || spares == spares_) return;
    callbacks_.spares(spares);
    spares_ = spares;
}

void PlacementFiles::take_saved(base::SavedMap saved) {
    if (!callbacks_.saved || saved == saved_) return;
    callbacks_.saved(base::SavedMap(saved));
    saved_ = std::move(saved);
}

void PlacementFiles::say(Watched& about, Level level, std::string text) {
    if (text == about.said) return;
    callbacks_.log(level, text);
    about.said = std::move(text);
}

} // namespace sched
