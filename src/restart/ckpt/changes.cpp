#include "restart/ckpt/changes.hpp"

#include <algorithm>
#include <sys/inotify.h>
#include <unistd.h>

namespace restart::ckpt {

Changes::Changes() : events_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {}

void Changes::follow(const std::vector<std::string>& folders) {
    if (!events_) return;
    std::erase_if(watched_, [&](const auto& watched) {
        if (std::find(folders.begin(), folders.end(), watched.first) != folders.end()) return false;
        ::inotify_rm_watch(events_.get(), watched.second);
        return true;
    });
    for (const auto& folder : folders) {
        const int watch = ::inotify_add_watch(events_.get(), folder.c_str(),
                                              IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE |
                                                  IN_ONLYDIR | IN_DONT_FOLLOW);
        if (watch >= 0) watched_[folder] = watch;
    }
}

void Changes::forget() {
    char block[4096];
    while (events_ && ::read(events_.get(), block, sizeof block) > 0) {}
}

} // namespace restart::ckpt
