#include "restart/watch/rules/rule_reader.hpp"

#include "base/keys.hpp"
#include "base/units.hpp"
#include "restart/watch/rules/evidence.hpp"
#include "restart/watch/rules/expectations.hpp"
#include "restart/watch/rules/signal.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace restart {
namespace {

using base::Error;
using base::Expected;
using namespace std::chrono_literals;

constexpr std::size_t most_rows = 1000;
constexpr std::size_t longest_name = 60, longest_text = 400;
constexpr base::Duration longest_time = 24h * 400;

Error wrong(std::string_view what) {
    return {base::Code::input, std::string(what)};
}

// Names are used in reports and drain reasons.
bool is_name(std::string_view name) {
    return !name.empty() && name.size() <= longest_name && name[0] != '#' &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      c == '-' || c == '_' || c == '.' || c == '#';
           });
}

bool is_text(std::string_view text) {
    return text.size() <= longest_text &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

// Reads a value of the file into a member; errors state what is expected.
struct Reader {
    Rule& rule;
    const base::TomlValue& value;
    std::string_view type;

    Error mistyped() const { return wrong(fmt::format("must be {}", type)); }
    Expected<std::string> text() const {
        if (const auto* given = std::get_if<std::string>(&value.value)) return *given;
        return mistyped();
    }
    bool is(std::string_view word) const {
        const auto* given = std::get_if<std::string>(&value.value);
        return given != nullptr && *given == word;
    }
    Expected<double> number() const {
        if (const auto* whole = std::get_if<std::int64_t>(&value.value)) return static_cast<double>(*whole);
        if (const auto* given = std::get_if<double>(&value.value))
            if (std::isfinite(*given)) return *given;
        return mistyped();
    }
    Expected<base::Duration> duration() const {
        const auto given = text();
        if (!given) return given.error();
        auto time = base::parse_duration(*given);
        if (time && *time > longest_time) return wrong("is longer than 400 days");
        return time;
    }
    template <class Word> Expected<Word> word() const {
        const auto given = text();
        if (!given) return given.error();
        const auto words = words_of(Word{});
        const auto found = std::find(words.begin(), words.end(), *given);
        if (found == words.end())
            return wrong(fmt::format("\"{}\" is none of {}", *given, fmt::join(words, ", ")));
        return static_cast<Word>(found - words.begin());
    }
    template <class Value, class Member> Expected<void> put(Expected<Value> read, Member member) const {
        if (!read) return std::move(read).error();
        rule.*member = *std::move(read);
        return {};
    }

    Expected<void> operator()(double Rule::*member) const { return put(number(), member); }
    Expected<void> operator()(std::optional<double> Rule::*member) const { return put(number(), member); }
    Expected<void> operator()(std::uint64_t Rule::*member) const {
        if (const auto* whole = std::get_if<std::int64_t>(&value.value); whole && *whole >= 0) {
            rule.*member = static_cast<std::uint64_t>(*whole);
            return {};
        }
        return mistyped();
    }
    Expected<void> operator()(bool Rule::*member) const {
        if (const auto* given = std::get_if<bool>(&value.value)) {
            rule.*member = *given;
            return {};
        }
        return mistyped();
    }
    Expected<void> operator()(base::Duration Rule::*member) const { return put(duration(), member); }
    Expected<void> operator()(std::optional<base::Duration> Rule::*member) const {
        if (is(member == &Rule::clear ? by_clear : by_window)) {
            (rule.*member).reset();
            return {};
        }
        return put(duration(), member);
    }
    Expected<void> operator()(std::optional<Severity> Rule::*member) const {
        if (is(by_reasons)) {
            (rule.*member).reset();
            return {};
        }
        return put(word<Severity>(), member);
    }
    template <class Word> Expected<void> operator()(Word Rule::*member) const {
        return put(word<Word>(), member);
    }
};

bool is_throttle_reason(std::string_view name) {
    const auto words = base::find_key("throttle", "reasons")->bounds.words;
    return fmt::format(", {},", words).find(fmt::format(", {},", name)) != std::string::npos;
}

std::string signals() {
    std::vector<std::string_view> names;
    for (const auto& kind : signal_kinds())
        names.push_back(kind.name);
    return fmt::format("{}", fmt::join(names, ", "));
}

// The first field that conflicts with the others, and why.
struct Misfit {
    std::string_view field;
    std::string why;
};

std::optional<Misfit> misfit_of_test(const Rule& rule, const SignalKind& kind) {
    const auto test = words_of(Test{})[static_cast<std::size_t>(rule.test)];
    const bool limits = rule.test == Test::above || rule.test == Test::below;
    const auto unfit = [&](std::string_view why) {
        return Misfit{"test", fmt::format("{} does not go with {}, {}", test, rule.signal, why)};
    };
    if (kind.shape == Shape::counter && !rule.counts_growth())
        return unfit("a counter: only its growth is judged (delta, rate)");
    if (kind.shape != Shape::counter && rule.counts_growth()) return unfit("which is no counter");
    if ((kind.shape == Shape::bits) != (rule.test == Test::bit))
        return unfit(kind.shape == Shape::bits ? "a mask (bit)" : "which is no mask");
    if (kind.shape == Shape::event && rule.test != Test::equal) return unfit("an event (equal)");
    if (rule.value < 0) return Misfit{"value", "is below 0"};
    if (rule.test == Test::bit &&
        (rule.value < 1 || rule.value >= 0x1p53 || std::trunc(rule.value) != rule.value))
        return Misfit{"value", "is no mask: a whole number above 0 is wanted"};
    if (rule.to && (rule.test != Test::equal || *rule.to < rule.value))
        return Misfit{"to", "goes with the test equal, and is not below value"};
    if (rule.until &&
        (!limits || (rule.test == Test::above ? *rule.until > rule.value : *rule.until < rule.value)))
        return Misfit{"until", "goes with the tests above and below, and is on the other side of value"};
    if (rule.against == Against::own && kind.of.empty())
        return Misfit{"against", fmt::format("{} is not measured against anything of its own", rule.signal)};
    if (rule.against == Against::own && rule.test == Test::equal)
        return Misfit{"against", "goes with a limit: above, below, delta or rate"};
    if (rule.against == Against::peers && !limits)
        return Misfit{"against", "peers goes with above and below"};
    if (rule.unless != 0 && rule.test != Test::bit) return Misfit{"unless", "goes with the test bit"};
    return std::nullopt;
}

std::optional<Misfit> misfit_of_time(const Rule& rule, const SignalKind& kind) {
    const bool event = kind.shape == Shape::event;
    if (!event && !rule.text.empty()) return Misfit{"text", fmt::format("{} is no event", rule.signal)};
    if (!event && rule.same_part) return Misfit{"same_part", fmt::format("{} is no event", rule.signal)};
    if (!event && rule.by_user) return Misfit{"by_user", fmt::format("{} is no event", rule.signal)};
    if (!event && rule.secondary) return Misfit{"secondary", fmt::format("{} is no event", rule.signal)};
    if (!event && rule.latest) return Misfit{"latest", fmt::format("{} is no event", rule.signal)};
    const auto window = rule.window.value_or(1s);
    if ((event || rule.counts_growth() || rule.of_windows > 0) && window < 1s)
        return Misfit{"window", "is below 1s, for growth, an event or a share of windows"};
    if ((event || rule.of_windows > 0) && !rule.window)
        return Misfit{"window", "throttle.window is the time that a condition must hold"};
    if (rule.of_windows > 64 || (event && rule.of_windows > 0))
        return Misfit{"of_windows", "is at most 64, and not for events"};
    if (rule.share < 0 || rule.share >= 1) return Misfit{"share", "is not from 0 to below 1"};
    if (rule.samples > 64 || (rule.samples > 0 && (kind.shape != Shape::gauge || rule.of_windows > 0 ||
                                                   window < 1s || !rule.window)))
        return Misfit{"samples", "is at most 64, and goes with a plain value and a window of 1s or more"};
    if (rule.only_repeated && (rule.repeats == 0 || event))
        return Misfit{"only_repeated", "goes with repeats, and not with events"};
    if (rule.burst > base::Duration{0} && (rule.repeats == 0 || !event))
        return Misfit{"burst", "goes with repeats of an event"};
    if (rule.burst >= rule.within) return Misfit{"burst", "is not shorter than within"};
    if (rule.repeats > 64) return Misfit{"repeats", "is above 64"};
    if (rule.repeats > 0 && rule.within < 1s) return Misfit{"within", "is below 1s"};
    return std::nullopt;
}

std::optional<Misfit> misfit(const Rule& rule) {
    if (!is_name(rule.name)) return Misfit{"name", "is at most 60 letters, digits, '-', '_', '.' and '#'"};
    if (rule.signal.empty()) return Misfit{"signal", "is missing, as the row is new"};
    const auto* kind = find_signal_kind(rule.signal);
    if (kind == nullptr || !is_name(rule.signal))
        return Misfit{"signal", fmt::format("\"{}\" is not known; there are {}", rule.signal, signals())};
    if (auto found = misfit_of_test(rule, *kind)) return found;
    if (auto found = misfit_of_time(rule, *kind)) return found;
    if (!rule.severity && !is_throttle_reason(rule.finding().substr(rule.finding().rfind('.') + 1)))
        return Misfit{"severity", "throttle.reasons is for rows whose name ends with such a reason"};
    // A finding of a link must not move jobs: it is unknown which of its ends is to blame.
    if (is_of_fabric(rule.signal) && (!rule.severity || *rule.severity > Severity::warn))
        return Misfit{"severity", "is info or warn, of a signal of the fabric"};
    if (is_of_fabric(rule.signal) && rule.repeated > Severity::warn)
        return Misfit{"repeated", "is info or warn, of a signal of the fabric"};
    for (const auto& [field, text] :
         {std::pair{"says", rule.says}, {"source", rule.source}, {"text", rule.text}})
        if (!is_text(text)) return Misfit{field, "is more than 400 characters, or has others than of ASCII"};
    if (const auto word = unknown_word(rule.says))
        return Misfit{"says",
                      fmt::format("\"{}\" is none of {{value}}, {{bits}}, {{of}}, {{text}}, {{limit}}, "
                                  "{{grown}}, {{window}}, {{what}} and {{unit}}",
                                  *word)};
    return std::nullopt;
}

} // namespace

Rule new_rule() {
    return {.name = {}, .signal = {}, .severity = Severity::warn, .source = "this site"};
}

Error RuleReader::error(std::uint32_t line, std::string_view what) const {
    return wrong(fmt::format("{}:{}: {}", file_, line, what));
}

std::string_view RuleReader::keep(std::string text) {
    return rules_.texts_->emplace_back(std::move(text));
}

Expected<void> RuleReader::read_field(Rule& rule, const RuleField& field, const base::TomlValue& value) {
    auto done = [&]() -> Expected<void> {
        if (const auto* member = std::get_if<std::string_view Rule::*>(&field.slot)) {
            const auto* text = std::get_if<std::string>(&value.value);
            if (text == nullptr) return wrong(fmt::format("must be {}", field.type));
            rule.** member = keep(*text);
            return {};
        }
        return std::visit(
            [&](auto member) -> Expected<void> {
                if constexpr (std::is_same_v<decltype(member), std::string_view Rule::*>)
                    return {};
                else
                    return Reader{rule, value, field.type}(member);
            },
            field.slot);
    }();
    if (!done) return error(value.line, fmt::format("{}: {}: {}", rule.name, field.name, done.error().text));
    return {};
}

Expected<void> RuleReader::check(const Rule& rule, const base::TomlTable& table) const {
    const auto found = misfit(rule);
    if (!found) return {};
    auto line = table.line;
    for (const auto& value : table.values)
        if (value.key == found->field) line = value.line;
    return error(line, fmt::format("{}: {}: {}", rule.name, found->field, found->why));
}

Expected<void> RuleReader::read_row(const base::TomlTable& table) {
    if (table.name != "rule")
        return error(table.line, fmt::format("unknown table [{}]; there are [[rule]] and [[{}]]", table.name,
                                             expected_table));
    const auto named = std::find_if(table.values.begin(), table.values.end(),
                                    [](const base::TomlValue& value) { return value.key == "name"; });
    if (named == table.values.end()) return error(table.line, "the rule has no name");
    const auto* name = std::get_if<std::string>(&named->value);
    if (name == nullptr) return error(named->line, "name: must be a string");
    if (const auto [before, fresh] = lines_.try_emplace(*name, named->line); !fresh)
        return error(named->line, fmt::format("{}: is in line {}, too", *name, before->second));

    const auto known = std::find_if(rules_.rows_.begin(), rules_.rows_.end(),
                                    [&](const Rule& rule) { return rule.name == *name; });
    auto rule = known != rules_.rows_.end() ? *known : new_rule();
    rule.name = keep(*name);
    for (const auto& value : table.values) {
        const auto* field = find_rule_field(value.key);
        if (field == nullptr) {
            std::vector<std::string_view> names;
            for (const auto& one : rule_fields())
                names.push_back(one.name);
            return error(value.line, fmt::format("{}: unknown key {}; a rule has {}", *name, value.key,
                                                 fmt::join(names, ", ")));
        }
        if (auto done = read_field(rule, *field, value); !done) return done;
    }
    if (auto sound = check(rule, table); !sound) return sound;
    if (known != rules_.rows_.end())
        *known = rule;
    else
        fresh_.push_back(rule);
    return {};
}

Expected<RuleSet> RuleReader::read(std::string_view text) {
    const auto tables = base::parse_toml(text, file_);
    if (!tables) return tables.error();
    if (tables->size() > most_rows) return error(tables->back().line, "the file has more than 1000 rules");
    // railcheck's expectations are checked here, too: a mistake is found before they are needed.
    if (auto sound = Expectations::from_text(text, file_); !sound) return std::move(sound).error();
    for (const auto& table : *tables)
        if (table.name != expected_table)
            if (auto done = read_row(table); !done) return std::move(done).error();
    rules_.rows_.insert(rules_.rows_.begin(), fresh_.begin(), fresh_.end());
    return std::move(rules_);
}

} // namespace restart
