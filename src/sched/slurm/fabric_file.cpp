#include "sched/slurm/fabric_file.hpp"

#include "topo/fabric_json.hpp"

#include <fmt/format.h>

#include <csignal>
#include <exception>
#include <malloc.h>
#include <pthread.h>
#include <sys/stat.h>
#include <utility>

namespace sched {

FabricFile::FabricFile(Log log, Use use, std::chrono::milliseconds interval)
    : log_(std::move(log)), use_(std::move(use)), interval_(interval) {
    find_path();
    look();
    // The host process keeps its signals: the thread takes none.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        thread_ = std::thread([this] { watch(); });
        pthread_setname_np(thread_.native_handle(), "rail_fabric");
    } catch (const std::exception& e) {
        say(Level::error, fmt::format("{} is not watched for changes: {}", path_.string(), e.what()));
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

FabricFile::~FabricFile() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void FabricFile::reload() {
    {
        const std::lock_guard lock(mutex_);
        reload_ = true;
    }
    wake_.notify_all();
}

void FabricFile::watch() {
    std::unique_lock lock(mutex_);
    while (!stop_) {
        wake_.wait_for(lock, interval_, [this] { return stop_ || reload_; });
        if (stop_) return;
        const bool reload = std::exchange(reload_, false);
        lock.unlock();
        if (reload) find_path();
        look();
        lock.lock();
    }
}

void FabricFile::find_path() {
    auto conf = base::load_conf("");
    if (!conf) {
        say(Level::error,
            fmt::format("{}; {}", conf.error().text,
                        path_.empty() ? "nodes are chosen by Slurm alone until this is mended and "
                                        "`scontrol reconfigure` is given"
                                      : "the former configuration stays"));
        return;
    }
    conf_ = *std::move(conf);
    path_ = conf_.text("placement", "fabric");
    fresh_ = true;
}

FabricFile::Stamp FabricFile::stamp_of(const std::filesystem::path& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return {};
    return {info.st_mtim.tv_sec, info.st_mtim.tv_nsec, static_cast<std::uint64_t>(info.st_size), info.st_ino};
}

void FabricFile::look() {
    if (path_.empty()) return;
    const auto stamp = stamp_of(path_); // before reading: a change in between is seen at the next look
    if (!fresh_ && stamp == stamp_) return;
    fresh_ = false;
    stamp_ = stamp;
    auto fabric = topo::read_fabric(path_);
    if (!fabric) {
        say(Level::error,
            fmt::format("{}; {}", fabric.error().text,
                        have_ ? "the last good fabric stays in use"
                              : "nodes are chosen by Slurm alone until there is one (railtopo discover)"));
        return;
    }
    have_ = true;
    say(Level::info, fmt::format("fabric {}: {} hosts, {} units, {} pods", path_.string(),
                                 fabric->hosts.size(), fabric->units.size(), fabric->pods.size()));
    use_(*std::move(fabric), conf_);
    // The file's tree and the fabric are far larger than what is kept of them: give it back to the system.
    fabric = base::Error{};
#ifdef __GLIBC__
    ::malloc_trim(0);
#endif
}

void FabricFile::say(Level level, std::string text) {
    if (text == said_) return;
    log_(level, text);
    said_ = std::move(text);
}

} // namespace sched
