#include "restart/watch/signal_table.hpp"

#include "base/utf8.hpp"
#include "restart/watch/rules/describe.hpp"
#include "restart/watch/rules/signal.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace restart {
namespace {

// For text of other origin: a kernel log, a site's file. Within the limit of a field (wire/signals.cpp).
std::string plain(std::string_view text, std::size_t most) {
    auto clean = base::as_utf8(text);
    std::replace_if(
        clean.begin(), clean.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
    return std::string(base::cut_utf8(clean, most));
}

std::optional<double> finite(const std::optional<double>& number) {
    return number && std::isfinite(*number) ? number : std::nullopt;
}

class Maker {
public:
    explicit Maker(const SignalTableOf& of) : of_(of) {
        table_.host = of.host;
        table_.time = of.now + of.wall_offset;
        for (const auto& sentence : of.not_watching)
            if (table_.not_watching.size() < most_sentences)
                table_.not_watching.push_back(plain(sentence, 500));
    }

    void add(const RuleView& view) {
        const auto rule = place_of(*view.rule);
        const auto text = plain(view.text, 500);
        const auto bytes = 300 + 2 * text.size(); // as JSON, at most
        if (!rule || table_.rows.size() >= most_signal_rows || bytes_ + bytes > most_signal_bytes) {
            ++table_.left_out;
            return;
        }
        bytes_ += bytes;
        SignalRow row{.rule = *rule, .component = plain(view.component, 64), .standing = view.standing};
        row.value = finite(view.value);
        row.compared = finite(view.compared);
        row.limit = finite(view.limit);
        row.severity = view.severity;
        if (view.since) row.since = *view.since + of_.wall_offset;
        row.text = text;
        table_.rows.push_back(std::move(row));
    }

    // A row for a signal without events: none occurred, or its source is not watched.
    void add_quiet(std::string_view signal) {
        if (table_.rules.size() >= most_signal_rules || table_.rows.size() >= most_signal_rows) return;
        table_.rules.push_back({.name = std::string(signal),
                                .signal = std::string(signal),
                                .says = "none that counts still",
                                .severity = "by its rule"});
        SignalRow row{.rule = static_cast<std::uint32_t>(table_.rules.size() - 1)};
        row.standing = heard(signal) ? RuleStanding::ok : RuleStanding::unseen;
        table_.rows.push_back(std::move(row));
    }

    HostSignals take() && { return std::move(table_); }

private:
    static constexpr std::size_t most_sentences = 32;

    // Events come from the kernel log; XIDs also from NVML.
    bool heard(std::string_view signal) const {
        return std::any_of(of_.watching.begin(), of_.watching.end(), [&](const auto& source) {
            return source.second &&
                   (source.first == "kmsg" || (source.first == "nvml" && signal == "gpu.xid"));
        });
    }

    std::optional<std::uint32_t> place_of(const Rule& rule) {
        const auto known = places_.find(&rule);
        if (known != places_.end()) return known->second;
        if (table_.rules.size() >= most_signal_rules || bytes_ > most_signal_bytes / 2) return std::nullopt;
        const auto* kind = find_signal_kind(rule.signal);
        const bool bits = kind != nullptr && kind->shape == Shape::bits;
        table_.rules.push_back(
            {.name = plain(rule.name, 128),
             .signal = plain(rule.signal, 128),
             .unit = bits ? "bits" : std::string(kind == nullptr ? std::string_view() : kind->unit),
             .says = plain(describe(rule), 500),
             .severity = plain(describe_severity(rule), 128),
             .source = plain(rule.source, 500)});
        const auto& made = table_.rules.back();
        bytes_ += 200 + 2 * (made.name.size() + made.signal.size() + made.says.size() + made.severity.size() +
                             made.source.size());
        const auto place = static_cast<std::uint32_t>(table_.rules.size() - 1);
        places_.emplace(&rule, place);
        return place;
    }

    const SignalTableOf& of_;
    HostSignals table_;
    std::size_t bytes_ = 40'000; // of the header with its sentences, and of the rows so far
    std::map<const Rule*, std::uint32_t> places_;
};

} // namespace

HostSignals signal_table(const SignalTableOf& of, const std::vector<RuleView>& views) {
    Maker maker(of);
    for (const auto& kind : signal_kinds())
        if (kind.shape == Shape::event && std::none_of(views.begin(), views.end(), [&](const RuleView& view) {
                return view.rule->signal == kind.name;
            }))
            maker.add_quiet(kind.name);
    // If not all fit, rows that are not in order come first.
    std::vector<const RuleView*> order;
    for (const auto& view : views)
        order.push_back(&view);
    if (order.size() > most_signal_rows)
        std::stable_partition(order.begin(), order.end(), [](const RuleView* view) {
            return view->standing != RuleStanding::ok && view->standing != RuleStanding::unseen;
        });
    for (const auto* view : order)
        maker.add(*view);
    return std::move(maker).take();
}

} // namespace restart
