#include "restart/core/store/event_log.hpp"

#include "restart/core/store/event_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace restart {

namespace {

// The key of an element in the previous list.
const std::string& key_of(const RmNode& node) {
    return node.name;
}
base::JobId key_of(const RmJob& job) {
    return job.id;
}

// From one list to the next: the elements that are gone, by their places in the old one, and those that are
// new or changed, by their places in the new one.
template <class T> struct ListChange {
    std::vector<std::uint64_t> gone;
    std::vector<std::uint64_t> at;
    std::vector<T> put;
    bool empty() const { return gone.empty() && put.empty(); }
    bool operator==(const ListChange&) const = default;
};

template <class Codec, class T> void list_fields(Codec& codec, T& change) {
    codec.maybe("gone", change.gone);
    codec.maybe("at", change.at);
    codec.maybe("put", change.put);
}
template <class Codec> void fields(Codec& codec, codec::Of<ListChange<RmNode>> auto& change) {
    list_fields(codec, change);
}
template <class Codec> void fields(Codec& codec, codec::Of<ListChange<RmJob>> auto& change) {
    list_fields(codec, change);
}

// New or changed elements are in ascending order of their places.
template <class T> bool change_list(std::vector<T>& list, const ListChange<T>& change) {
    for (auto gone = change.gone.rbegin(); gone != change.gone.rend(); ++gone) {
        if (*gone >= list.size()) return false;
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(*gone));
    }
    if (change.at.size() != change.put.size()) return false;
    std::vector<T> made;
    made.reserve(list.size() + change.put.size());
    auto old = list.begin();
    for (std::size_t i = 0; i < change.put.size(); ++i) {
        while (made.size() < change.at[i]) {
            if (old == list.end()) return false;
            made.push_back(std::move(*old++));
        }
        if (old != list.end() && key_of(*old) == key_of(change.put[i])) ++old; // the same element as before
        made.push_back(change.put[i]);
    }
    std::move(old, list.end(), std::back_inserter(made));
    list = std::move(made);
    return true;
}

// None: the order differs, and the whole list must be written.
template <class T>
std::optional<ListChange<T>> change_between(const std::vector<T>& before, const std::vector<T>& after) {
    using Key = std::decay_t<decltype(key_of(before.front()))>;
    std::set<Key> there;
    ListChange<T> change;
    std::vector<const T*> kept;
    const bool same = std::equal(before.begin(), before.end(), after.begin(), after.end(),
                                 [](const T& a, const T& b) { return key_of(a) == key_of(b); });
    if (!same)
        for (const auto& element : after)
            there.insert(key_of(element));
    for (std::size_t i = 0; i < before.size(); ++i)
        if (same || there.contains(key_of(before[i])))
            kept.push_back(&before[i]);
        else
            change.gone.push_back(i);
    auto old = kept.begin();
    for (std::size_t i = 0; i < after.size(); ++i) {
        const bool known = old != kept.end() && key_of(**old) == key_of(after[i]);
        if (!known || !(**old == after[i])) {
            change.at.push_back(i);
            change.put.push_back(after[i]);
        }
        if (known) ++old;
    }
    if (old != kept.end()) return {};
    return change;
}

struct SnapshotChange {
    std::optional<ListChange<RmNode>> nodes;
    std::optional<ListChange<RmJob>> jobs;
    std::optional<std::vector<RmNode>> all_nodes;
    std::optional<std::vector<RmJob>> all_jobs;
    bool config_changed = false;
    std::optional<RmConfig> config;
};
template <class Codec> void fields(Codec& codec, codec::Of<SnapshotChange> auto& change) {
    codec.maybe("nodes", change.nodes);
    codec.maybe("jobs", change.jobs);
    codec.maybe("all_nodes", change.all_nodes);
    codec.maybe("all_jobs", change.all_jobs);
    codec.maybe("config_changed", change.config_changed);
    codec.maybe("config", change.config);
}

template <class T>
void describe_change(const std::vector<T>& before, const std::vector<T>& after,
                     std::optional<ListChange<T>>& change, std::optional<std::vector<T>>& all) {
    change = change_between(before, after);
    if (!change)
        all = after;
    else if (change->empty())
        change.reset();
}

template <class T>
bool take_change(std::vector<T>& list, const std::optional<ListChange<T>>& change,
                 std::optional<std::vector<T>>& all) {
    if (all) list = *std::move(all);
    return !change || change_list(list, *change);
}

struct Outcome {
    std::vector<Action> actions;
    std::vector<Note> notes;
    std::optional<base::Error> refused;
};
template <class Codec> void fields(Codec& codec, codec::Of<Outcome> auto& outcome) {
    codec.maybe("actions", outcome.actions);
    codec.maybe("notes", outcome.notes);
    codec("refused", outcome.refused);
}

template <class... Cases> struct Overloaded : Cases... { using Cases::operator()...; };
template <class... Cases> Overloaded(Cases...) -> Overloaded<Cases...>;

// One letter each. Capitals are followed by a text.
enum Tag : char {
    policy_tag = 'P',
    outcome_tag = 'O',
    tick_tag = 't',
    same_report_tag = 'r', // by the reporter's number
    report_tag = 'R',
    same_sweep_tag = 'w',
    sweep_tag = 'W',
    same_snapshot_tag = 's',
    snapshot_tag = 'S', // what changed
    started_tag = 'b',
    fabric_tag = 'F',
    unavailable_tag = 'U',
    done_tag = 'D',
    drain_tag = 'K',
    resume_tag = 'L',
    asked_tag = 'A',
    pause_tag = 'M',
    go_tag = 'G',
    windows_tag = 'N',
    planned_tag = 'H'
};

std::uint64_t folded(std::int64_t number) {
    return (static_cast<std::uint64_t>(number) << 1) ^ static_cast<std::uint64_t>(number >> 63);
}
std::int64_t unfolded(std::uint64_t number) {
    return static_cast<std::int64_t>(number >> 1) ^ -static_cast<std::int64_t>(number & 1);
}

const base::Error damaged{base::Code::input, "the events are damaged here"};

} // namespace

std::string outcome_text(const Step& step) {
    if (step.actions.empty() && step.notes.empty() && !step.refused) return {};
    return codec::write(Outcome{step.actions, step.notes, step.refused});
}

std::string describe(const Event& event) {
    struct Describer {
        std::string operator()(const Started&) const { return "the start of restartd"; }
        std::string operator()(const Tick&) const { return "time passing"; }
        std::string operator()(const FabricLoaded& e) const {
            return fmt::format("the fabric file ({} hosts)", e.units.size());
        }
        std::string operator()(const AgentReported& e) const { return "report of " + e.report.host; }
        std::string operator()(const FabricSwept& e) const {
            return fmt::format("sweep of the fabric ({} hosts)", e.report.hosts.size());
        }
        std::string operator()(const RmRead& e) const {
            return fmt::format("reading of the resource manager ({} nodes, {} jobs)", e.snapshot.nodes.size(),
                               e.snapshot.jobs.size());
        }
        std::string operator()(const RmUnavailable&) const { return "the resource manager not answering"; }
        std::string operator()(const ActionDone& e) const { return "outcome of action " + e.action; }
        std::string operator()(const OperatorDrain& e) const {
            return fmt::format("drain of {} by {}", e.host, e.user);
        }
        std::string operator()(const OperatorResume& e) const {
            return fmt::format("resume of {} by {}", e.host, e.user);
        }
        std::string operator()(const HostAsked& e) const { return "asking " + e.host; }
        std::string operator()(const OperatorPause& e) const { return "pause by " + e.user; }
        std::string operator()(const OperatorGo& e) const { return "go by " + e.user; }
        std::string operator()(const MaintenanceWindows&) const { return "windows of maintenance"; }
        std::string operator()(const GangsPlanned& e) const {
            return fmt::format("places for {} gangs", e.gangs.size());
        }
    };
    return std::visit(Describer{}, event);
}

void EventWriter::put(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7)
        text_.push_back(static_cast<char>(0x80 | (number & 0x7f)));
    text_.push_back(static_cast<char>(number));
}

void EventWriter::put(std::string_view text) {
    put(text.size());
    text_.append(text);
}

void EventWriter::put(char tag, base::Time now) {
    text_.push_back(tag);
    put(folded((now - now_).count()));
    now_ = now;
}

void EventWriter::event(const Event& event, base::Time now, const Policy& policy) {
    if (policy_ != policy) {
        put(policy_tag, now);
        put(codec::write(policy));
        policy_ = policy;
    }
    const auto whole = [&](char tag, const auto& given) {
        put(tag, now);
        put(codec::write(given));
    };
    // One for each kind: the compiler reports a missing one.
    std::visit(Overloaded{[&](const Started&) { put(started_tag, now); },
                          [&](const Tick&) { put(tick_tag, now); },
                          [&](const FabricLoaded& given) { whole(fabric_tag, given); },
                          [&](const AgentReported& given) { report(given.report, now); },
                          [&](const FabricSwept& given) { sweep(given.report, now); },
                          [&](const RmRead& given) { snapshot(given.snapshot, now); },
                          [&](const RmUnavailable& given) { whole(unavailable_tag, given); },
                          [&](const ActionDone& given) { whole(done_tag, given); },
                          [&](const OperatorDrain& given) { whole(drain_tag, given); },
                          [&](const OperatorResume& given) { whole(resume_tag, given); },
                          [&](const HostAsked& given) { whole(asked_tag, given); },
                          [&](const OperatorPause& given) { whole(pause_tag, given); },
                          [&](const OperatorGo& given) { whole(go_tag, given); },
                          [&](const MaintenanceWindows& given) { whole(windows_tag, given); },
                          [&](const GangsPlanned& given) { whole(planned_tag, given); }},
               event);
}

void EventWriter::report(const Report& report, base::Time now) {
    const auto [entry, first] = reporters_.try_emplace(report.host);
    auto& reporter = entry->second;
    if (first) reporter.number = reporters_.size() - 1;
    if (!first && reporter.last == report) {
        put(same_report_tag, now);
        put(reporter.number);
        return;
    }
    put(report_tag, now);
    put(codec::write(report));
    reporter.last = report;
}

void EventWriter::sweep(const FabricReport& report, base::Time now) {
    if (sweep_ == report) {
        put(same_sweep_tag, now);
        return;
    }
    put(sweep_tag, now);
    put(codec::write(report));
    sweep_ = report;
}

void EventWriter::snapshot(const RmSnapshot& snapshot, base::Time now) {
    static const RmSnapshot none;
    const auto& before = snapshot_ ? *snapshot_ : none;
    SnapshotChange change;
    describe_change(before.nodes, snapshot.nodes, change.nodes, change.all_nodes);
    describe_change(before.jobs, snapshot.jobs, change.jobs, change.all_jobs);
    change.config_changed = before.config != snapshot.config;
    if (change.config_changed) change.config = snapshot.config;
    if (!change.nodes && !change.all_nodes && !change.jobs && !change.all_jobs && !change.config_changed) {
        put(same_snapshot_tag, now);
        return;
    }
    put(snapshot_tag, now);
    put(codec::write(change));
    snapshot_ = snapshot;
}

void EventWriter::outcome(const Step& step) {
    const auto text = outcome_text(step);
    if (text.empty()) return;
    put(outcome_tag, now_);
    put(text);
}

std::string EventWriter::take() {
    size_ += text_.size();
    return std::exchange(text_, {});
}

void EventReader::feed(std::string_view bytes) {
    text_.erase(0, at_);
    at_ = 0;
    text_.append(bytes);
}

base::Expected<std::uint64_t> EventReader::number() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (at_end()) return damaged;
        const auto byte = static_cast<unsigned char>(text_[at_++]);
        number |= std::uint64_t{byte & 0x7fU} << shift;
        if ((byte & 0x80U) == 0) return number;
    }
    return damaged;
}

base::Expected<std::string_view> EventReader::text() {
    const auto size = number();
    if (!size) return size.error();
    if (*size > text_.size() - at_) return damaged;
    const auto text = std::string_view(text_).substr(at_, *size);
    at_ += *size;
    return text;
}

namespace {

template <class T> base::Expected<Event> event_from(const base::Expected<std::string_view>& text) {
    if (!text) return text.error();
    auto read = codec::read<T>(*text);
    if (!read) return std::move(read).error();
    return Event(*std::move(read));
}

} // namespace

base::Expected<Event> EventReader::event_of(char tag) {
    switch (tag) {
    case tick_tag: return Event(Tick{});
    case started_tag: return Event(Started{});
    case fabric_tag: return event_from<FabricLoaded>(text());
    case unavailable_tag: return event_from<RmUnavailable>(text());
    case done_tag: return event_from<ActionDone>(text());
    case drain_tag: return event_from<OperatorDrain>(text());
    case resume_tag: return event_from<OperatorResume>(text());
    case asked_tag: return event_from<HostAsked>(text());
    case pause_tag: return event_from<OperatorPause>(text());
    case go_tag: return event_from<OperatorGo>(text());
    case windows_tag: return event_from<MaintenanceWindows>(text());
    case planned_tag: return event_from<GangsPlanned>(text());
    case same_report_tag: {
        const auto which = number();
        if (!which) return which.error();
        if (*which >= reports_.size()) return damaged;
        return Event(AgentReported{reports_[*which]});
    }
    case report_tag: {
        const auto written = text();
        if (!written) return written.error();
        auto report = codec::read<Report>(*written);
        if (!report) return std::move(report).error();
        const auto [entry, first] = reporters_.try_emplace(report->host, reports_.size());
        if (first) reports_.emplace_back();
        reports_[entry->second] = *report;
        return Event(AgentReported{*std::move(report)});
    }
    case same_sweep_tag: return Event(FabricSwept{sweep_});
    case sweep_tag: {
        const auto written = text();
        if (!written) return written.error();
        auto report = codec::read<FabricReport>(*written);
        if (!report) return std::move(report).error();
        sweep_ = *std::move(report);
        return Event(FabricSwept{sweep_});
    }
    case same_snapshot_tag: return Event(RmRead{snapshot_});
    case snapshot_tag: {
        const auto written = text();
        if (!written) return written.error();
        auto change = codec::read<SnapshotChange>(*written);
        if (!change) return std::move(change).error();
        if (!take_change(snapshot_.nodes, change->nodes, change->all_nodes) ||
            !take_change(snapshot_.jobs, change->jobs, change->all_jobs))
            return damaged;
        if (change->config_changed) snapshot_.config = change->config;
        return Event(RmRead{snapshot_});
    }
    case policy_tag: // read elsewhere; named here so that no two tags are the same letter
    case outcome_tag:
    default: return damaged;
    }
}

base::Expected<std::optional<LoggedStep>> EventReader::next() {
    const codec::AnyText as_written;
    while (!at_end()) {
        const char tag = text_[at_++];
        const auto later = number();
        if (!later) return later.error();
        now_ += base::Duration(unfolded(*later));
        if (tag == policy_tag) {
            const auto written = text();
            if (!written) return written.error();
            auto policy = codec::read<Policy>(*written);
            if (!policy) return std::move(policy).error();
            policy_ = *std::move(policy);
            continue;
        }
        auto event = event_of(tag);
        if (!event) return std::move(event).error();
        LoggedStep step{now_, *std::move(event), {}};
        if (!at_end() && text_[at_] == outcome_tag) {
            ++at_;
            if (const auto same = number(); !same) return same.error();
            const auto written = text();
            if (!written) return written.error();
            step.outcome = *written;
        }
        return std::optional(std::move(step));
    }
    return std::optional<LoggedStep>();
}

} // namespace restart
