#include "restart/watch/rules/fields.hpp"

#include <algorithm>
#include <array>

namespace restart {
namespace {

constexpr std::string_view text = "a string", number = "a number", count = "a whole number",
                           duration = "a duration such as \"5s\"", yes_no = "true or false",
                           severity = "info, warn, evict or fatal";

constexpr auto fields = std::to_array<RuleField>({
    {"name", &Rule::name, text,
     "This names the row; what follows a # tells rows of one finding apart, of which the worst is reported.",
     true},
    {"signal", &Rule::signal, "one of the signals below", "The rule looks at this signal.", true},
    {"test", &Rule::test, "equal, above, below, bit, delta or rate",
     "The signal is so: equal to value, or between it and to; above or below the limit; with one of the bits "
     "of value; or it has grown by more than the limit within window (delta), or by more than the limit a "
     "second over window (rate).",
     true},
    {"value", &Rule::value, number, "This is the limit, the number to be equal to, or the mask.", true},
    {"to", &Rule::to, number, "The test equal holds up to this number."},
    {"until", &Rule::until, number,
     "Once above or below the limit, the signal is taken to be so until it is back at this."},
    {"against", &Rule::against, "number, own or peers",
     "The limit is value itself (number), or value times what the signal is measured against (own), or value "
     "times the median of this signal on all components of the host, of which there must be three (peers)."},
    {"unless", &Rule::unless, count,
     "The test bit does not count beside one of these bits; a reason that [throttle] reasons names always "
     "does."},
    {"text", &Rule::text, text,
     "The words of an event are so, where * stands for any and | stands between several of which one will "
     "do; "
     "behind the text of an XID 74 stand the bits of its registers, such as <r0.16>."},
    {"latest", &Rule::latest, yes_no, "The last event decides the severity, not the worst."},
    {"same_part", &Rule::same_part, yes_no,
     "Of repeated events only those count that name the same part: GPC and TPC of XID 13, the link of "
     "NVLink's."},
    {"by_user", &Rule::by_user, yes_no,
     "Of repeated events only those count that came under programs of different users; an event that names "
     "several parts, as of a program that fails on the whole GPU, does not count, and those before a user's "
     "program that ran for a minute or longer without one are forgotten."},
    {"secondary", &Rule::secondary, yes_no,
     "An event is left out beside another of its component within a minute, which is then the cause."},
    {"window", &Rule::window, duration,
     "A finding begins when the test has been true for so long: presence fills the window, absence drains it "
     "at the same speed; growth is looked at over this time, and an event counts for it; throttle.window is "
     "that of railyard.conf, of growth twice that time."},
    {"of_windows", &Rule::of_windows, "a whole number up to 64",
     "A finding begins instead when the test was true in more than share of the last so many windows; with 0 "
     "it does not."},
    {"share", &Rule::share, "a number from 0 to 1", "This is the share of of_windows."},
    {"samples", &Rule::samples, "a whole number up to 64",
     "The value is the mean of so many samples, one in each window, once there are as many; with 0 it is "
     "that of "
     "each look."},
    {"clear", &Rule::clear, duration,
     "A finding ends when its test has not been true for so long; throttle.clear is that of railyard.conf."},
    {"latch", &Rule::latch, yes_no, "A finding holds until the daemon that judges or the host restarts."},
    {"severity", &Rule::severity, severity,
     "The finding asks for this; throttle.reasons is evict where [throttle] reasons of railyard.conf names "
     "the last word of the row's name, else warn.",
     true},
    {"repeats", &Rule::repeats, count,
     "A finding that begins so often within the time within, or an event that comes so often, has the "
     "severity repeated; with 0 it never has."},
    {"within", &Rule::within, duration, "Repetitions are counted within this time."},
    {"burst", &Rule::burst, duration,
     "Repeated events of which each comes within this after the one before are one burst, which counts "
     "once."},
    {"repeated", &Rule::repeated, severity, "A finding that is repeated asks for this."},
    {"only_repeated", &Rule::only_repeated, yes_no,
     "What is not repeated is no finding; what is, is one until so many lie no longer within the time "
     "within."},
    {"fault", &Rule::fault,
     "other, gpu_slow, link, pcie, hca_gone, gpu_error, gpu_stuck, gpu_gone or gpu_broken",
     "A host that the finding puts out of use is repaired by the ladder of this class in [repair] of "
     "railyard.conf.",
     true},
    {"says", &Rule::says, text,
     "The evidence is this, with numbers for {value}, {bits}, {of}, {limit}, {grown} and {window}, words for "
     "{text}, {what} and {unit}; empty means what the test says by itself."},
    {"source", &Rule::source, text, "The numbers have this source."},
    {"on", &Rule::on, yes_no, "The rule is in force."},
});

constexpr std::array<std::string_view, 6> tests{"equal", "above", "below", "bit", "delta", "rate"};
constexpr std::array<std::string_view, 3> scales{"number", "own", "peers"};
constexpr std::array<std::string_view, 4> severities{"info", "warn", "evict", "fatal"};
// All but host_lost, which an agent never reports.
constexpr std::array<std::string_view, 9> faults{
    "other", "gpu_slow", "link", "pcie", "hca_gone", "gpu_error", "gpu_stuck", "gpu_gone", "gpu_broken"};

} // namespace

std::span<const RuleField> rule_fields() {
    return fields;
}

const RuleField* find_rule_field(std::string_view name) {
    const auto found =
        std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.name == name; });
    return found == fields.end() ? nullptr : &*found;
}

std::span<const std::string_view> words_of(Test) {
    return tests;
}
std::span<const std::string_view> words_of(Against) {
    return scales;
}
std::span<const std::string_view> words_of(Severity) {
    return severities;
}
std::span<const std::string_view> words_of(FaultClass) {
    return faults;
}

} // namespace restart
