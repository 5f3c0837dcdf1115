#include "restart/ckpt/kinds/follow.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart::ckpt::kinds {
namespace {

bool is_same(const Whole& a, const Whole& b) {
    return a.name == b.name && a.step == b.step && a.done == b.done;
}

// Two changes within the resolution of a file system's clock have the same time.
bool are_old(const std::map<std::string, std::optional<Entry>>& signs, base::Time now) {
    return std::all_of(signs.begin(), signs.end(), [&](const auto& sign) {
        return !sign.second || sign.second->modified + clocks_differ < now;
    });
}

} // namespace

base::Duration Follower::least_wait() const {
    return base::Duration(std::int64_t{looked_} * 1000 / most_a_second);
}

base::Duration Follower::period(std::optional<double> interval_s) {
    if (!interval_s) return base::Duration(5'000);
    return base::duration_from_seconds(std::clamp(*interval_s / 60, 1.0, 30.0));
}

base::Expected<Follower::Signs> Follower::signs(Files& files) const {
    Signs signs;
    for (const auto& name : found_.signs) {
        auto entry = files.entry(name);
        if (!entry) return std::move(entry).error();
        signs[name] = *std::move(entry);
    }
    return signs;
}

base::Expected<std::optional<News>> Follower::look(base::Time now) {
    const auto before = std::exchange(known_, std::nullopt);
    looked_ = 0;
    auto files = open_();
    if (!files) return std::move(files).error();
    auto& dir = **files;
    // Read before the look: changes made during it are seen the next time.
    auto seen = signs(dir);
    if (!seen) return std::move(seen).error();
    looked_ = dir.looked();
    if (before && found_.settled && *seen == *before) {
        known_ = std::move(*seen);
        return std::optional<News>();
    }
    auto found = kinds::look(dir, kind_, now);
    looked_ = dir.looked();
    if (!found) return std::move(found).error();
    const bool same_signs = found->signs == found_.signs;
    found_ = *std::move(found);
    // Signs that were not read before the look may have changed during it: look once more.
    if (same_signs && are_old(*seen, now)) known_ = std::move(*seen);
    if (!found_.newest || (last_ && is_same(*last_, *found_.newest))) return std::optional<News>();
    const auto previous = std::exchange(last_, found_.newest);
    if (last_->done + clocks_differ < since_) return std::optional<News>();
    News news{*last_, dir.path(last_->name), last_->begun};
    const auto earliest =
        previous && previous->done < last_->done ? std::max(previous->done, since_) : since_;
    if (news.begun < earliest)
        news.begun = std::clamp(last_->changed, std::min(earliest, last_->done), last_->done);
    if (previous && previous->step && last_->step && *last_->step < *previous->step)
        news.remark =
            fmt::format("is behind step {}, which was the newest: the job was begun again, or another "
                        "one writes to this directory",
                        *previous->step);
    return std::optional(std::move(news));
}

} // namespace restart::ckpt::kinds
