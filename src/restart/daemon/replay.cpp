#include "restart/daemon/replay.hpp"

#include "base/time_text.hpp"
#include "base/units.hpp"
#include "restart/core/step.hpp"
#include "restart/core/store/event_log.hpp"
#include "restart/core/store/state_json.hpp"
#include "restart/daemon/journal.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace restart {
namespace {

constexpr std::uint64_t progress_every = 100'000; // events
constexpr std::size_t shown = 400;                // bytes around the first difference

// The texts from shortly before their first difference.
std::string part_of(const std::string& text, std::size_t at) {
    if (text.empty()) return "nothing";
    const auto begin = at < shown / 4 ? 0 : at - shown / 4;
    return (begin > 0 ? "…" : "") + text.substr(begin, shown) + (begin + shown < text.size() ? "…" : "");
}

std::string difference_of(const std::string& what, const std::string& expected, const std::string& found) {
    const auto parted = std::mismatch(expected.begin(), expected.end(), found.begin(), found.end());
    const auto at = static_cast<std::size_t>(parted.first - expected.begin());
    return fmt::format("{}\n  in the journal: {}\n  now:            {}", what, part_of(expected, at),
                       part_of(found, at));
}

bool reached(const ReplayPoint& point, std::uint64_t number, base::Time now) {
    const auto* moment = std::get_if<base::Time>(&point);
    return moment != nullptr ? now >= *moment : number >= std::get<std::uint64_t>(point);
}
bool passed(const ReplayPoint& point, std::uint64_t number, base::Time now) {
    const auto* moment = std::get_if<base::Time>(&point);
    return moment != nullptr ? now > *moment : number > std::get<std::uint64_t>(point);
}

std::string text_of(const ReplayPoint& point) {
    const auto* moment = std::get_if<base::Time>(&point);
    return moment != nullptr ? base::iso_time(*moment)
                             : fmt::format("event {}", std::get<std::uint64_t>(point));
}

using Tell = std::function<void(const ReplayProgress&)>;

// Where a replay begins.
struct Place {
    std::optional<base::Time> segment; // begun then; none: the first
    std::uint64_t before = 0;          // events before that segment
    std::uint64_t number = 1;          // of the first event that is compared
};

// Looks for an event without replaying it.
class Search {
public:
    Search(ReplayPoint from, const Tell& tell) : from_(from), tell_(tell) {}

    base::Expected<void> begin(const EventSegment& segment) {
        place_.segment = segment.begun;
        place_.before = number_;
        reader_ = EventReader();
        return {};
    }

    base::Expected<void> go_on(std::string_view bytes) {
        reader_.feed(bytes);
        while (!found_) {
            const auto next = reader_.next();
            if (!next) return next.error();
            if (!*next) break;
            const auto now = (*next)->now;
            ++number_;
            if (!oldest_) oldest_ = now;
            newest_ = now;
            found_ = reached(from_, number_, now);
            if (number_ % progress_every == 0) tell_({true, number_, now});
        }
        return {};
    }

    bool found() const { return found_; }

    base::Expected<Place> place() const {
        if (!found_)
            return base::Error{
                base::Code::input,
                oldest_
                    ? fmt::format("the journal ends before {}: it has events 1 to {}, from {} to {}",
                                  text_of(from_), number_, base::iso_time(*oldest_), base::iso_time(newest_))
                    : fmt::format("the journal ends before {}: it has no event yet", text_of(from_))};
        auto place = place_;
        place.number = number_;
        return place;
    }

private:
    ReplayPoint from_;
    const Tell& tell_;
    EventReader reader_;
    Place place_;
    std::uint64_t number_ = 0;
    std::optional<base::Time> oldest_;
    base::Time newest_{};
    bool found_ = false;
};

class Replay {
public:
    Replay(const Place& place, std::optional<ReplayPoint> until, const Tell& tell)
        : place_(place), until_(until), tell_(tell), number_(place.before) {
        done_.first = place.number;
    }

    base::Expected<void> begin(const EventSegment& segment) {
        if (place_.segment && !state_ && segment.begun != *place_.segment) return {}; // an earlier one
        auto state = state_from_json(segment.state);
        if (!state) return std::move(state).error();
        if (state_ && segment.continues) {
            const auto found = to_json(*state_);
            if (found != segment.state)
                tell_of(difference_of(
                    fmt::format("the state at {} is another one", base::iso_time(segment.begun)),
                    segment.state, found));
        }
        state_ = *std::move(state);
        reader_ = EventReader();
        release_ = segment.release;
        return {};
    }

    base::Expected<void> go_on(std::string_view bytes) {
        if (!state_) return {};
        reader_.feed(bytes);
        while (!ended()) {
            auto next = reader_.next();
            if (!next) return std::move(next).error();
            if (!*next) break;
            take(**next);
        }
        return {};
    }

    bool ended() const { return past_ || done_.difference; }
    bool begun() const { return state_.has_value(); }
    const Replayed& done() const { return done_; }

private:
    bool counts() const { return number_ >= place_.number; }

    void tell_of(std::string difference) {
        auto& kept = counts() ? done_.difference : done_.before;
        if (!kept) kept = std::move(difference);
    }

    void take(const LoggedStep& logged) {
        ++number_;
        if (until_ && counts() && passed(*until_, number_, logged.now)) {
            past_ = true;
            return;
        }
        auto out = step(*std::move(state_), logged.event, logged.now, reader_.policy());
        state_ = std::move(out.state);
        const auto found = outcome_text(out);
        if (found != logged.outcome)
            tell_of(difference_of(
                fmt::format("event {}, {} ({}; written by railyard {}), has another outcome", number_,
                            base::iso_time(logged.now), describe(logged.event), release_),
                logged.outcome, found));
        if (counts()) {
            if (!done_.from) done_.from = logged.now;
            done_.until = logged.now;
            ++done_.events;
            if (!logged.outcome.empty()) ++done_.outcomes;
        }
        if (number_ % progress_every == 0) tell_({!counts(), number_, logged.now});
    }

    Place place_;
    std::optional<ReplayPoint> until_;
    const Tell& tell_;
    Replayed done_;
    std::uint64_t number_;
    std::optional<State> state_;
    EventReader reader_;
    std::string release_;
    bool past_ = false;
};

template <class Reading>
base::Expected<void> read(const std::filesystem::path& path, Reading& reading,
                          const std::function<bool()>& enough) {
    return read_events(
        path, [&](const EventSegment& segment) { return reading.begin(segment); },
        [&](std::string_view bytes) { return reading.go_on(bytes); }, enough);
}

// Two of a kind that exclude each other; those of different kinds are compared by what they find.
bool reversed(const ReplayPoint& from, const ReplayPoint& until) {
    return from.index() == until.index() && until < from;
}

} // namespace

base::Expected<ReplayPoint> parse_replay_point(std::string_view text) {
    if (const auto number = base::parse_count(text); number && *number > 0) return ReplayPoint(*number);
    if (const auto moment = base::parse_time(text)) return ReplayPoint(*moment);
    return base::Error{base::Code::usage,
                       fmt::format("\"{}\" is neither the number of an event, of which the first is 1, nor a "
                                   "time such as 2026-03-01T14:20:05 (local) or 2026-03-01T13:20:05.123Z "
                                   "(UTC)",
                                   text)};
}

base::Expected<Replayed> replay(const std::filesystem::path& path, const Tell& progress,
                                const ReplayRange& range) {
    if (range.from && range.until && reversed(*range.from, *range.until))
        return base::Error{base::Code::usage,
                           fmt::format("{} is after {}", text_of(*range.from), text_of(*range.until))};
    Place place;
    if (range.from) {
        Search search(*range.from, progress);
        if (const auto done = read(path, search, [&] { return search.found(); }); !done) return done.error();
        auto found = search.place();
        if (!found) return std::move(found).error().within(path.string());
        place = *found;
    }
    Replay replay(place, range.until, progress);
    if (const auto done = read(path, replay, [&] { return replay.ended(); }); !done) return done.error();
    if (!replay.begun())
        return base::Error{
            base::Code::unavailable,
            fmt::format("{}: restartd has removed these events meanwhile, as the oldest", path.string())};
    if (range.until && replay.done().events == 0 && !replay.done().difference)
        return base::Error{base::Code::input,
                           fmt::format("{}: the journal has no event {} {}", path.string(),
                                       range.from ? fmt::format("between {} and", text_of(*range.from))
                                                  : std::string("as old as"),
                                       text_of(*range.until))};
    return replay.done();
}

} // namespace restart
