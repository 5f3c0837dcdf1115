#include "sched/advise/attempts.hpp"

#include "sched/one_host.hpp"
#include "sched/say/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sched {
namespace {

// From then on enough hosts for restarts stay free besides the gang, whichever hosts it takes.
std::int64_t enough_free(const Ask& ask) {
    const auto& request = ask.request;
    if (request.spare_floor == 0) return 0;
    const auto count =
        std::size_t{request.nodes} + request.spare_floor - std::min(request.spares, request.nodes);
    if (count > ask.free_at.size()) return Ask::never;
    auto moments = ask.free_at;
    std::nth_element(moments.begin(), moments.begin() + static_cast<std::ptrdiff_t>(count - 1),
                     moments.end());
    return moments[count - 1];
}

} // namespace

Attempts::Attempts(const Placer& placer, Ask ask, Budget budget)
    : placer_(placer), ask_(std::move(ask)), budget_(budget), enough_free_(enough_free(ask_)) {}

std::optional<Attempt> Attempts::next() {
    auto attempt = find();
    if (attempt) ++given_;
    return attempt;
}

std::optional<Attempt> Attempts::find() {
    if (is_one()) return one_host();
    if (!chose_) {
        chose_ = true;
        if (auto attempt = chosen()) return attempt;
    }
    if (!waits()) return {};
    if (largest_segment(ask_.request) > 1) return other_hosts();
    if (!listed_) {
        listed_ = true;
        list_windows();
    }
    if (next_window_ == windows_.size()) return {};
    return std::move(windows_[next_window_++]);
}

Snapshot Attempts::snapshot_at(std::int64_t moment) const {
    Snapshot snapshot;
    snapshot.states.reserve(ask_.free_at.size());
    for (const auto at : ask_.free_at)
        snapshot.states.push_back(at <= moment       ? HostState::free
                                  : at == Ask::never ? HostState::down
                                                     : HostState::busy);
    for (std::size_t host = 0; host < ask_.mixed.size(); ++host)
        if (ask_.mixed[host] != 0 && ask_.free_at[host] == 0) snapshot.states[host] = HostState::mixed;
    snapshot.health = ask_.health;
    return snapshot;
}

Request Attempts::request_at(std::int64_t moment) const {
    auto request = ask_.request;
    if (moment >= ask_.span_until) request.span = Span::any;
    request.order = RankOrder::none;
    request.shared = request.shared || !ask_.mixed.empty();
    request.excluded.insert(request.excluded.end(), offered_.begin(), offered_.end());
    return request;
}

bool Attempts::fits_at(std::int64_t moment) {
    const auto fits = placer_.fits(snapshot_at(moment), request_at(moment), budget_);
    failed_ = failed_ || (!fits && fits.error().code == base::Code::internal);
    return fits.has_value();
}

std::optional<Attempt> Attempts::chosen_at(std::int64_t moment) {
    auto placement = placer_.place(snapshot_at(moment), request_at(moment), budget_);
    if (!placement) {
        failed_ = failed_ || placement.error().code == base::Code::internal;
        unfit_ = std::move(placement).error().text;
        return {};
    }
    unfit_.clear();
    Attempt attempt{std::move(placement->hosts), moment, {}, placement->exact};
    std::sort(attempt.hosts.begin(), attempt.hosts.end());
    for (const auto& reason : placement->reasons)
        attempt.why += (attempt.why.empty() ? "" : "; ") + reason;
    return attempt;
}

std::optional<Attempt> Attempts::chosen() {
    auto best = chosen_at(0);
    if (!best && waits()) {
        const auto unfit_now = unfit_;
        std::vector<std::int64_t> moments;
        for (const auto at : ask_.free_at)
            if (at > 0 && at != Ask::never) moments.push_back(at);
        if (ask_.span_until != Ask::never) moments.push_back(ask_.span_until);
        std::sort(moments.begin(), moments.end());
        moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
        const auto first = std::partition_point(moments.begin(), moments.end(),
                                                [&](std::int64_t moment) { return !fits_at(moment); });
        if (first != moments.end()) best = chosen_at(*first);
        unfit_ = unfit_now;
    }
    if (best && largest_segment(ask_.request) > 1)
        offered_.insert(offered_.end(), best->hosts.begin(), best->hosts.end());
    return best;
}

// A job of one host that need not wait: best_host() finds its place.
bool Attempts::is_one() const {
    const auto& request = ask_.request;
    return request.nodes == 1 && request.most <= 1 && request.required.empty() && request.excluded.empty() &&
           !waits();
}

std::optional<Attempt> Attempts::one_host() {
    const auto now = std::exchange(next_, Next::none);
    if (now == Next::none) return {};
    const auto snapshot = snapshot_at(0);
    if (now == Next::in_use) {
        next_ = Next::idle;
        Attempt all;
        for (std::uint32_t host = 0; host < snapshot.states.size(); ++host)
            if (snapshot.states[host] == HostState::mixed) all.hosts.push_back(host);
        all.why = fmt::format("any of {} in use that may have room", plural(all.hosts.size(), "node"));
        return all;
    }
    auto request = request_at(0);
    request.shared = request.shared && now != Next::idle;
    const auto& index = placer_.index();
    const auto one = best_host(index, snapshot, request);
    if (!one) return {};
    if (!one->idle) next_ = Next::in_use;
    return Attempt{{one->host},
                   0,
                   fmt::format("a node of unit {} that is {}, beside {} with room",
                               index.units[index.unit_of[one->host]].name, one->idle ? "idle" : "in use",
                               one->left)};
}

std::optional<Attempt> Attempts::other_hosts() {
    const bool required =
        std::any_of(ask_.request.required.begin(), ask_.request.required.end(), [&](std::uint32_t host) {
            return std::find(offered_.begin(), offered_.end(), host) != offered_.end();
        });
    if (offered_.empty() || required) return {};
    const auto unfit = unfit_;
    auto attempt = chosen();
    unfit_ = unfit;
    if (!attempt) offered_.clear();
    return attempt;
}

// All candidates, from the end of a wish on.
std::optional<Attempt> Attempts::window_of_all() const {
    Attempt all;
    std::vector<std::int64_t> moments;
    for (std::uint32_t host = 0; host < ask_.free_at.size(); ++host) {
        if (ask_.free_at[host] == Ask::never) continue;
        all.hosts.push_back(host);
        moments.push_back(ask_.free_at[host]);
    }
    if (moments.size() < ask_.request.nodes) return {};
    std::nth_element(moments.begin(), moments.begin() + (ask_.request.nodes - 1), moments.end());
    const auto until = ask_.request.span == Span::any ? 0 : ask_.span_until;
    all.earliest = std::max({moments[ask_.request.nodes - 1], until, enough_free_});
    if (all.earliest == Ask::never) return {};
    all.why = fmt::format("any of the {} candidates", all.hosts.size());
    return all;
}

void Attempts::list_windows() {
    const bool all_will_do = ask_.request.span == Span::any || ask_.span_until != Ask::never;
    if (ask_.request.span != Span::any) list_parts();
    if (!all_will_do) return;
    if (auto all = window_of_all()) windows_.push_back(*std::move(all));
}

// Units, pods or islands.
void Attempts::list_parts() {
    const auto& index = placer_.index();
    const auto window_of = [&](std::uint32_t host) {
        const auto unit = index.unit_of[host];
        if (ask_.request.span == Span::domain && !index.domains.empty()) return index.domain_of[host];
        if (ask_.request.span == Span::unit || ask_.request.span == Span::domain) return unit;
        const auto pod = index.units[unit].pod;
        return ask_.request.span == Span::pod ? pod : index.pods[pod].island;
    };
    const auto name_of = [&](std::size_t window) {
        if (ask_.request.span == Span::domain && !index.domains.empty())
            return "domain " + index.domains[window].name;
        if (ask_.request.span == Span::unit || ask_.request.span == Span::domain)
            return "unit " + index.units[window].name;
        if (ask_.request.span == Span::pod) return "pod " + index.pods[window].name;
        return std::string("the fabric");
    };
    const bool domains = ask_.request.span == Span::domain;
    std::vector<Attempt> windows(domains && !index.domains.empty()            ? index.domains.size()
                                 : domains || ask_.request.span == Span::unit ? index.units.size()
                                 : ask_.request.span == Span::pod             ? index.pods.size()
                                                                              : index.islands.size());
    for (std::uint32_t host = 0; host < ask_.free_at.size(); ++host)
        if (ask_.free_at[host] != Ask::never) windows[window_of(host)].hosts.push_back(host);
    if (enough_free_ == Ask::never) return;
    std::vector<std::int64_t> moments;
    for (std::size_t i = 0; i < windows.size(); ++i) {
        auto& window = windows[i];
        const bool whole =
            std::all_of(ask_.request.required.begin(), ask_.request.required.end(), [&](std::uint32_t host) {
                return std::binary_search(window.hosts.begin(), window.hosts.end(), host);
            });
        if (!whole || window.hosts.size() < ask_.request.nodes) continue;
        moments.clear();
        for (const auto host : window.hosts)
            moments.push_back(ask_.free_at[host]);
        std::nth_element(moments.begin(), moments.begin() + (ask_.request.nodes - 1), moments.end());
        window.earliest = std::max(moments[ask_.request.nodes - 1], enough_free_);
        if (window.earliest >= ask_.span_until) continue;
        window.why = fmt::format("any of the {} candidates in {}", window.hosts.size(), name_of(i));
        windows_.push_back(std::move(window));
    }
    std::stable_sort(windows_.begin(), windows_.end(), [](const Attempt& a, const Attempt& b) {
        return std::pair(a.earliest, a.hosts.size()) < std::pair(b.earliest, b.hosts.size());
    });
}

} // namespace sched
