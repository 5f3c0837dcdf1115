#include "sched/slurm/attempts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sched {

Attempts::Attempts(const Placer& placer, Ask ask) : placer_(placer), ask_(std::move(ask)) {}

std::optional<Attempt> Attempts::next() {
    if (!chose_) {
        chose_ = true;
        if (auto attempt = chosen()) return attempt;
    }
    if (ask_.span == Span::any) return {};
    if (!listed_) {
        listed_ = true;
        list_windows();
    }
    if (next_window_ == windows_.size()) return {};
    return std::move(windows_[next_window_++]);
}

std::optional<Attempt> Attempts::chosen_at(std::int64_t moment) {
    Snapshot snapshot;
    snapshot.states.reserve(ask_.free_at.size());
    std::uint32_t free = 0;
    for (const auto at : ask_.free_at) {
        const auto state = at <= moment       ? HostState::free
                           : at == Ask::never ? HostState::down
                                              : HostState::busy;
        snapshot.states.push_back(state);
        free += state == HostState::free;
    }
    Request request;
    request.span = ask_.span;
    request.order = RankOrder::none; // Slurm orders nodes by its table
    request.required = ask_.required;
    std::optional<Placement> best;
    const auto fits = [&](std::uint32_t nodes) {
        request.nodes = nodes;
        auto placement = placer_.place(snapshot, request);
        if (!placement) {
            unfit_ = std::move(placement).error().text;
            return false;
        }
        best = *std::move(placement);
        return true;
    };
    // The most nodes that fit; with fixed node counts that is one try.
    if (!fits(ask_.wanted)) {
        if (ask_.least == ask_.wanted || !fits(ask_.least)) return {};
        auto low = ask_.least, high = std::min(ask_.wanted, free + 1);
        while (low + 1 < high) {
            const auto middle = low + (high - low) / 2;
            (fits(middle) ? low : high) = middle;
        }
    }
    unfit_.clear();
    Attempt attempt{std::move(best->hosts), moment, {}};
    std::sort(attempt.hosts.begin(), attempt.hosts.end());
    for (const auto& reason : best->reasons)
        attempt.why += (attempt.why.empty() ? "" : "; ") + reason;
    return attempt;
}

std::optional<Attempt> Attempts::chosen() {
    if (auto now = chosen_at(0)) return now;
    if (ask_.span == Span::any) return {};
    const auto unfit_now = unfit_;
    std::vector<std::int64_t> moments;
    for (const auto at : ask_.free_at)
        if (at > 0 && at != Ask::never) moments.push_back(at);
    std::sort(moments.begin(), moments.end());
    moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
    if (moments.empty()) return {};
    auto best = chosen_at(moments.back());
    if (!best) return {};
    auto low = moments.begin(), high = moments.end() - 1; // it fits at *high
    while (low < high) {
        const auto middle = low + (high - low) / 2;
        if (auto attempt = chosen_at(*middle)) {
            best = std::move(attempt);
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    unfit_ = unfit_now;
    return best;
}

void Attempts::list_windows() {
    const auto& index = placer_.index();
    const auto window_of = [&](std::uint32_t host) {
        const auto unit = index.unit_of[host];
        if (ask_.span == Span::unit) return unit;
        const auto pod = index.units[unit].pod;
        return ask_.span == Span::pod ? pod : index.pods[pod].island;
    };
    const auto name_of = [&](std::size_t window) {
        if (ask_.span == Span::unit) return "unit " + index.units[window].name;
        if (ask_.span == Span::pod) return "pod " + index.pods[window].name;
        return std::string("the fabric");
    };
    std::vector<Attempt> windows(ask_.span == Span::unit  ? index.units.size()
                                 : ask_.span == Span::pod ? index.pods.size()
                                                          : index.islands.size());
    for (std::uint32_t host = 0; host < ask_.free_at.size(); ++host)
        if (ask_.free_at[host] != Ask::never) windows[window_of(host)].hosts.push_back(host);
    std::vector<std::int64_t> moments;
    for (std::size_t i = 0; i < windows.size(); ++i) {
        auto& window = windows[i];
        const bool whole = std::all_of(ask_.required.begin(), ask_.required.end(), [&](std::uint32_t host) {
            return std::binary_search(window.hosts.begin(), window.hosts.end(), host);
        });
        if (!whole || window.hosts.size() < ask_.least) continue;
        moments.clear();
        for (const auto host : window.hosts)
            moments.push_back(ask_.free_at[host]);
        std::nth_element(moments.begin(), moments.begin() + (ask_.least - 1), moments.end());
        window.earliest = moments[ask_.least - 1];
        window.why = fmt::format("any of the {} candidates in {}", window.hosts.size(), name_of(i));
        windows_.push_back(std::move(window));
    }
    std::stable_sort(windows_.begin(), windows_.end(), [](const Attempt& a, const Attempt& b) {
        return std::pair(a.earliest, a.hosts.size()) < std::pair(b.earliest, b.hosts.size());
    });
}

} // namespace sched
