// health.conf(5): read or refused; what was read prints and reads back, and judges absurd signals into
// reports that restartd takes.
#include "restart/watch/rules/rule_book.hpp"
#include "restart/watch/rules/signal.hpp"

#include <cstdlib>
#include <limits>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace restart;
    const auto rules = RuleSet::from_text({reinterpret_cast<const char*>(data), size}, "fuzz");
    if (!rules) return 0;
    const auto again = RuleSet::from_text(rules->print(), "printed");
    if (!again || again->print() != rules->print()) std::abort();

    RuleBook book(*rules);
    base::Time now{std::chrono::seconds(1'700'000'000)};
    for (const double value :
         {0.0, 1.0, 255.0, 4294967295.0, 1e300, -1.0, 0.0, std::numeric_limits<double>::quiet_NaN()}) {
        std::vector<Signal> signals;
        for (const auto* component : {"gpu0", "gpu1", "mlx5_0:1"})
            for (const auto& rule : rules->rows())
                signals.push_back({rule.signal, component, value, value / 2, "words"});
        now += std::chrono::seconds(70);
        book.look(now, signals);
        for (const auto& signal : signals)
            if (find_signal_kind(signal.name)->shape == Shape::event) book.event(now, signal);
        book.rest_is_gone(now, "ib.");
        Report report;
        report.host = report.boot_id = "n001";
        report.findings = book.findings(now);
        if (!Report::from_json(report.to_json())) std::abort();
    }
    return 0;
}
