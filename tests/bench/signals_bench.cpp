// What nodewatchd's rules make of a month of hosts: noise of sound ones, then the same with faults planted.
// Beside them the same hosts judged as others do it: instant checks every five minutes with lifetime counters
// (NHC's scripts, GCM), and gpud's rules once a minute.
#include "base/cli.hpp"
#include "base/table.hpp"
#include "base/units.hpp"
#include "restart/watch/judge.hpp"
#include "restart/watch/rules/table.hpp"
#include "traces/host_trace.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;
using restart::Severity;

// Of the judge that looks each second to each minute.
constexpr base::Duration interval = 30s;
// A finding may come so long after the fault's end and still be its own: the last look.
constexpr base::Duration after = 2min;

struct Alarm {
    std::string rule, component;
    Severity severity; // evict stands for fatal, too
    auto operator<=>(const Alarm&) const = default;
};

// Who judges: what holds at a look.
class Watcher {
public:
    virtual ~Watcher() = default;
    virtual std::string_view name() const = 0;
    virtual std::set<Alarm> look(const trace::HostTrace::Look& look) = 0;
    // Whether this row of the rules holds on the component now; of a watcher without rows any does.
    virtual bool holds(std::string_view, const std::string&, base::Time) { return true; }
};

class Ours : public Watcher {
public:
    std::string_view name() const override { return "nodewatchd"; }
    std::set<Alarm> look(const trace::HostTrace::Look& look) override {
        if (look.agent_is_new || !judge_) {
            restart::Limits limits;
            limits.interval = interval;
            judge_ = std::make_unique<restart::Judge>(limits);
        }
        std::set<Alarm> found;
        for (const auto& one : judge_->judge(*look.sample))
            found.insert({one.rule, one.component, std::min(one.severity, Severity::evict)});
        return found;
    }
    bool holds(std::string_view row, const std::string& component, base::Time now) override {
        const auto views = judge_->view(now);
        return std::any_of(views.begin(), views.end(), [&](const restart::RuleView& view) {
            return view.rule->name == row && view.component == component &&
                   view.standing == restart::RuleStanding::finding;
        });
    }

private:
    std::unique_ptr<restart::Judge> judge_;
};

// XIDs of a host since its boot.
class KernelLog {
public:
    void take(const trace::HostTrace::Look& look) {
        if (look.booted) seen_.clear();
        for (const auto& event : look.sample->xids)
            seen_.insert({event.pci, event.code});
    }
    const std::set<std::pair<std::string, std::uint32_t>>& seen() const { return seen_; }

private:
    std::set<std::pair<std::string, std::uint32_t>> seen_;
};

// As scripts of HealthCheckProgram do: what is so at this moment, lifetime counters above 100 (GCM:
// critical), any XID in the kernel log.
class Instant : public Watcher {
public:
    std::string_view name() const override { return "instant checks"; }
    std::set<Alarm> look(const trace::HostTrace::Look& look) override {
        log_.take(look);
        const auto now = look.sample->now;
        if (now < next_) return found_;
        next_ = now + 5min;
        found_.clear();
        const auto add = [&](std::string rule, std::string component) {
            found_.insert({std::move(rule), std::move(component), Severity::evict});
        };
        if (look.sample->ib->ports.size() < trace::HostTrace::devices) add("ports missing", "");
        for (const auto& port : look.sample->ib->ports) {
            if (port.state != "ACTIVE") add("port not ACTIVE", port.device);
            if (port.rate_gbps < 400) add("port slow", port.device);
            std::uint64_t errors = 0;
            for (const auto& [name, value] : port.counters)
                errors += std::min<std::uint64_t>(value, 1'000'000);
            if (errors > 100) add("error counters above 100", port.device);
        }
        for (const auto& gpu : *look.sample->gpus) {
            const auto component = fmt::format("gpu{}", gpu.index);
            if (gpu.lost) add("GPU lost", component);
            if ((gpu.reasons.value_or(0) & 0xc8) != 0) add("throttled", component);
            if (gpu.remap_failed.value_or(false)) add("remap failed", component);
            if (gpu.ecc_uncorrected.value_or(0) > 0) add("ECC", component);
            if (gpu.pcie_width < gpu.pcie_width_max) add("PCIe width", component);
        }
        for (const auto& [pci, code] : log_.seen())
            add(fmt::format("XID {}", code), pci);
        return found_;
    }

private:
    KernelLog log_;
    base::Time next_{};
    std::set<Alarm> found_;
};

// gpud (facts of its sources): once a minute; a port down for 4 minutes, down for 25 s and up again three
// times in 12 h; HW slowdown in 0.6 looks a minute over 10 minutes; XIDs that ask for a reboot or an
// inspection; remapping failed.
class Gpud : public Watcher {
public:
    std::string_view name() const override { return "gpud's rules"; }
    std::set<Alarm> look(const trace::HostTrace::Look& look) override {
        log_.take(look);
        if (look.booted) *this = Gpud(log_);
        const auto now = look.sample->now;
        if (now < next_) return found_;
        next_ = now + 1min;
        found_.clear();
        std::set<std::string> up;
        for (const auto& port : look.sample->ib->ports)
            if (port.state == "ACTIVE") up.insert(port.device);
        for (std::uint32_t i = 0; i < trace::HostTrace::devices; ++i) {
            const auto device = fmt::format("mlx5_{}", i);
            auto& port = ports_[device];
            if (up.contains(device)) {
                if (port.down_since != base::Time{} && now - port.down_since >= 25s)
                    port.flaps.push_back(now);
                port.down_since = {};
            } else if (port.down_since == base::Time{}) {
                port.down_since = now;
            }
            std::erase_if(port.flaps, [&](base::Time at) { return now - at > 12h; });
            if (port.down_since != base::Time{} && now - port.down_since >= 4min)
                found_.insert({"port drop", device, Severity::evict});
            if (port.flaps.size() >= 3) found_.insert({"port flap", device, Severity::evict});
        }
        for (const auto& gpu : *look.sample->gpus) {
            const auto component = fmt::format("gpu{}", gpu.index);
            auto& slow = slow_[component];
            if ((gpu.reasons.value_or(0) & 0xc8) != 0) slow.push_back(now);
            std::erase_if(slow, [&](base::Time at) { return now - at > 10min; });
            if (slow.size() >= 6) found_.insert({"HW slowdown", component, Severity::evict});
            if (gpu.lost) found_.insert({"GPU lost", component, Severity::evict});
            if (gpu.remap_failed.value_or(false)) found_.insert({"remap failed", component, Severity::evict});
        }
        for (const auto& [pci, code] : log_.seen())
            if (code == 48 || code == 79) found_.insert({fmt::format("XID {}", code), pci, Severity::evict});
        return found_;
    }
    Gpud() = default;

private:
    explicit Gpud(KernelLog log) : log_(std::move(log)) {}
    struct Port {
        base::Time down_since{};
        std::vector<base::Time> flaps;
    };
    KernelLog log_;
    base::Time next_{};
    std::map<std::string, Port> ports_;
    std::map<std::string, std::vector<base::Time>> slow_;
    std::set<Alarm> found_;
};

struct Count {
    int planted = 0, found = 0, false_alarms = 0, false_warnings = 0;
    std::vector<base::Duration> delays;

    void add(const Count& other) {
        planted += other.planted;
        found += other.found;
        false_alarms += other.false_alarms;
        false_warnings += other.false_warnings;
        delays.insert(delays.end(), other.delays.begin(), other.delays.end());
    }
};

using Confusion = std::map<std::string, Count>; // by rule

// One watcher beside one host's faults.
class Score {
public:
    Score(std::unique_ptr<Watcher> watcher, const std::vector<trace::Fault>& faults, bool by_rule)
        : watcher_(std::move(watcher)), faults_(faults), by_rule_(by_rule), found_(faults.size()) {
        for (const auto& fault : faults)
            ++confusion_[std::string(fault.row)].planted;
    }

    void look(const trace::HostTrace::Look& look) {
        const auto now = look.sample->now;
        const auto holds = watcher_->look(look);
        for (const auto& alarm : holds)
            if (!last_.contains(alarm)) begins(alarm, now, look.maintenance);
        last_ = holds;
    }

    const Confusion& confusion() const { return confusion_; }

private:
    // Of others any alarm while a fault holds is that fault's.
    bool is_of(const Alarm& alarm, const trace::Fault& fault, base::Time now) {
        if (!by_rule_) return true;
        return alarm.rule == fault.rule && alarm.component == fault.component &&
               alarm.severity == fault.severity && watcher_->holds(fault.row, fault.component, now);
    }

    void begins(const Alarm& alarm, base::Time now, bool maintenance) {
        bool of_a_fault = false;
        for (std::size_t i = 0; i < faults_.size(); ++i) {
            const auto& fault = faults_[i];
            if (now < fault.begin || now > fault.end + after) continue;
            of_a_fault = true; // one fault may have several signs
            if (found_[i] || !is_of(alarm, fault, now)) continue;
            found_[i] = true;
            auto& count = confusion_[std::string(fault.row)];
            ++count.found;
            count.delays.push_back(std::chrono::duration_cast<base::Duration>(now - fault.begin));
        }
        // Notices ask for nothing, and tell what was so.
        if (of_a_fault || maintenance || alarm.severity == Severity::info) return;
        auto& count = confusion_[alarm.rule];
        ++(alarm.severity >= Severity::evict ? count.false_alarms : count.false_warnings);
    }

    std::unique_ptr<Watcher> watcher_;
    const std::vector<trace::Fault>& faults_;
    bool by_rule_;
    std::vector<bool> found_;
    std::set<Alarm> last_;
    Confusion confusion_;
};

std::string middle(std::vector<base::Duration> delays) {
    if (delays.empty()) return "-";
    std::sort(delays.begin(), delays.end());
    return base::human_duration(delays[delays.size() / 2]);
}

struct Options {
    std::uint64_t seed = 1;
    std::size_t hosts = 128, days = 30, faults = 200;
};

using Sums = std::vector<std::pair<std::string, Confusion>>; // by who judged

struct Result {
    Sums sums{{"nodewatchd", {}}, {"instant checks", {}}, {"gpud's rules", {}}};
    std::chrono::steady_clock::duration judging{}; // by nodewatchd's rules
    std::uint64_t looks = 0;

    void add(const Result& other) {
        for (std::size_t i = 0; i < sums.size(); ++i)
            for (const auto& [rule, count] : other.sums[i].second)
                sums[i].second[rule].add(count);
        judging += other.judging;
        looks += other.looks;
    }
};

Result watch_host(const Options& options, std::size_t host, int faults) {
    trace::Plan plan;
    plan.length = std::chrono::hours(24 * options.days);
    const auto hosts = static_cast<int>(options.hosts);
    const auto more = faults % hosts, number = static_cast<int>(host); // hosts with one more come first
    plan.faults = faults / hosts + (number < more);
    plan.first = number * (faults / hosts) + std::min(number, more);
    trace::HostTrace weeks(options.seed * 100'000 + host, plan);
    std::vector<Score> scores;
    scores.emplace_back(std::make_unique<Ours>(), weeks.faults(), true);
    scores.emplace_back(std::make_unique<Instant>(), weeks.faults(), false);
    scores.emplace_back(std::make_unique<Gpud>(), weeks.faults(), false);
    Result result;
    while (const auto look = weeks.next()) {
        ++result.looks;
        const auto began = std::chrono::steady_clock::now();
        scores.front().look(*look);
        result.judging += std::chrono::steady_clock::now() - began;
        scores[1].look(*look);
        scores[2].look(*look);
    }
    for (std::size_t i = 0; i < scores.size(); ++i)
        result.sums[i].second = scores[i].confusion();
    return result;
}

// All hosts, each with its share of the faults, one a core at a time.
Result simulate(const Options& options, int faults) {
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    Result sum;
    const auto work = [&] {
        for (auto host = next++; host < options.hosts; host = next++) {
            const auto one = watch_host(options, host, faults);
            const std::lock_guard lock(mutex);
            sum.add(one);
            if (::isatty(STDERR_FILENO))
                fmt::print(stderr, "\r{} of {} hosts\033[K", host + 1, options.hosts);
        }
    };
    {
        std::vector<std::jthread> threads;
        for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i)
            threads.emplace_back(work);
    }
    if (::isatty(STDERR_FILENO)) fmt::print(stderr, "\r\033[K");
    return sum;
}

Count total(const Confusion& confusion) {
    Count sum;
    for (const auto& [rule, count] : confusion)
        sum.add(count);
    return sum;
}

void print(const Sums& sums) {
    base::Table table({"JUDGED BY", "PLANTED", "FOUND", "AFTER (P50)", "FALSE ALARMS", "FALSE WARNINGS"});
    for (const auto& [name, confusion] : sums) {
        const auto sum = total(confusion);
        table.add({name, fmt::format("{}", sum.planted), fmt::format("{}", sum.found), middle(sum.delays),
                   fmt::format("{}", sum.false_alarms), fmt::format("{}", sum.false_warnings)});
    }
    fmt::print("{}", table.print());
}

// Rows of the rules that no fault was planted for, and why.
void print_rest(const Confusion& planted) {
    std::map<std::string, std::vector<std::string>> rest;
    std::size_t rows = 0, exercised = 0;
    for (const auto& rule : restart::shipped_rules()) {
        ++rows;
        const std::string row(rule.name);
        const auto found = planted.find(row);
        if (found != planted.end() && found->second.planted > 0) {
            ++exercised;
            continue;
        }
        const bool of_links = rule.signal.starts_with("link.") || rule.signal.starts_with("rail.");
        rest[!rule.on   ? "off unless a site turns it on"
             : of_links ? "fabricwatchd's, of links and rails: no host's trace shows them"
                        : "no fault of its kind is planted here"]
            .push_back(row);
    }
    fmt::print("\n{} of {} rows of the rules were exercised; not:\n", exercised, rows);
    for (const auto& [why, names] : rest)
        fmt::print("  {} ({}): {}\n", why, names.size(), fmt::join(names, ", "));
}

int run(const Options& options) {
    fmt::print("{} hosts with {} HCAs and {} GPUs, {} days, seed {}\n\n", options.hosts,
               trace::HostTrace::devices, trace::HostTrace::devices, options.days, options.seed);
    fmt::print("sound hosts (an alarm would drain the host):\n");
    print(simulate(options, 0).sums);
    fmt::print("\nthe same with {} faults:\n", options.faults);
    const auto faulty = simulate(options, static_cast<int>(options.faults));
    print(faulty.sums);
    fmt::print("\nnodewatchd by rule (planted faults; signs of them by other rules are not counted):\n");
    base::Table rules({"RULE", "PLANTED", "FOUND", "AFTER (P50)", "FALSE ALARMS", "FALSE WARNINGS"});
    for (const auto& [rule, count] : faulty.sums.front().second)
        rules.add({rule, fmt::format("{}", count.planted), fmt::format("{}", count.found),
                   middle(count.delays), fmt::format("{}", count.false_alarms),
                   fmt::format("{}", count.false_warnings)});
    fmt::print("{}", rules.print());
    print_rest(faulty.sums.front().second);
    const auto seconds = std::chrono::duration<double>(faulty.judging).count();
    fmt::print("\none look is judged in {:.1f} us\n",
               1e6 * seconds / static_cast<double>(std::max<std::uint64_t>(1, faulty.looks)));
    return base::exit_done;
}

} // namespace

int main(int argc, char** argv) {
    base::Cli cli("signals_bench", "What the rules make of a month of hosts, beside others'.", "HACKING");
    Options options;
    cli->add_option("--seed", options.seed, "Seed")->capture_default_str();
    cli->add_option("--hosts", options.hosts, "Hosts")->capture_default_str();
    cli->add_option("--days", options.days, "Days")->capture_default_str();
    cli->add_option("--faults", options.faults, "Faults in all")->capture_default_str();
    int status = 0;
    if (!cli.parse(argc, argv, status)) return status;
    return run(options);
}
