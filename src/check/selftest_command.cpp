#include "check/selftest_command.hpp"

#include "base/conf.hpp"
#include "base/json.hpp"
#include "base/table.hpp"
#include "base/units.hpp"
#include "check/gang_trials.hpp"
#include "check/selftest.hpp"
#include "check/words.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <unistd.h>

namespace check {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

volatile std::sig_atomic_t interrupted = 0;

// A temporary directory, removed at the end: under TMPDIR, else in memory, like sysfs, where the test takes a
// seventh of the time, else in the usual place for temporary files.
class Scratch {
public:
    static base::Expected<Scratch> make() {
        if (std::getenv("TMPDIR") == nullptr)
            if (auto in_memory = make("/dev/shm")) return in_memory;
        std::error_code failed;
        const auto folder = fs::temp_directory_path(failed);
        if (failed) return base::system_error(folder.string(), failed.value());
        return make(folder);
    }
    Scratch(Scratch&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    Scratch& operator=(Scratch&&) = delete;
    ~Scratch() {
        std::error_code ignored;
        if (!path_.empty()) fs::remove_all(path_, ignored);
    }
    const fs::path& path() const { return path_; }

private:
    static base::Expected<Scratch> make(const fs::path& folder) {
        auto pattern = (folder / "railcheck-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) return base::system_error(pattern, errno);
        return Scratch(pattern);
    }
    explicit Scratch(fs::path path) : path_(std::move(path)) {}
    fs::path path_;
};

std::string verdict(const Outcome& one) {
    return one.trouble.empty() ? "ok" : one.trouble;
}

json::object to_json(const Outcome& one) {
    return {{"rule", one.rule},       {"signal", one.signal},
            {"through", one.through}, {"severity", one.severity},
            {"fires", one.fires},     {"after_s", std::chrono::duration<double>(one.after).count()},
            {"silent", one.silent},   {"trouble", one.trouble},
            {"source", one.source}};
}

std::string near_miss(const Outcome& one) {
    if (!one.silent) return "FIRES";
    return one.misses == 0 ? "none" : "silent";
}

std::string when(const Outcome& one) {
    if (!one.fires) return "NEVER";
    return one.after == base::Duration{0} ? "at once" : "after " + base::human_duration(one.after);
}

void print(const std::vector<Outcome>& outcomes) {
    base::Table table({"RULE", "SEVERITY", "THROUGH", "FIRES", "NEAR MISS", "SOURCE"});
    for (const auto& one : outcomes)
        table.add({one.rule, one.severity, one.through, when(one), near_miss(one), one.source});
    fmt::print("{}", table.print());
    std::map<std::string, int> through;
    int wrong = 0;
    for (const auto& one : outcomes) {
        ++through[one.through];
        wrong += !one.sound();
    }
    std::string ways;
    for (const auto& [way, count] : through)
        ways += fmt::format("{}{} through {}", ways.empty() ? "" : ", ", count, way);
    fmt::print("{} rules: {}\n", outcomes.size(), ways);
    for (const auto& one : outcomes)
        if (!one.sound()) fmt::print("{}: {}\n", one.rule, verdict(one));
    fmt::print("{}\n", wrong == 0 ? "each fires at its fault and is silent below it"
                                  : fmt::format("{} of {} do not", wrong, outcomes.size()));
}

} // namespace

void SelftestCommand::add_options(base::Words& words) {
    add_config(words, options_.config);
    add_rules(words, options_.rules);
    add_nvml(words, options_.nvml);
    words
        .add_option("--ibsim", options_.ibsim,
                    "The console of an ibsim, on whose fabric rules of links are tested")
        ->type_name("PIPE");
    words.add_flag("--checks", options_.checks,
                   "Show that each check of a host finds its fault, instead of rules");
    add_libraries(words, options_.libraries);
    words.add_option("name", options_.only, "Only rules, or checks, whose name begins so")->type_name("NAME");
    add_json(words, options_.as_json);
}

int SelftestCommand::run_checks(const base::Cli& cli) const {
    const auto scratch = Scratch::make();
    if (!scratch) return cli.fail(scratch.error());
    for (const int number : {SIGINT, SIGTERM})
        std::signal(number, [](int taken) { interrupted = taken; });
    const bool terminal = !options_.as_json && ::isatty(STDERR_FILENO) != 0;
    const auto told = [&](const TrialOutcome& one) {
        if (terminal) fmt::print(stderr, "\r{}: {}\033[K", one.check, one.fault);
        return interrupted == 0;
    };
    auto outcomes = try_checks(options_.only, scratch->path(), options_.libraries, options_.nvml, told);
    if (interrupted == 0)
        for (auto& one : try_gangs(options_.only, scratch->path(), options_.libraries, told))
            outcomes.push_back(std::move(one));
    if (terminal) fmt::print(stderr, "\r\033[K");
    if (interrupted != 0) return 128 + interrupted;
    if (outcomes.empty())
        return cli.fail(
            {base::Code::usage, fmt::format("no check's name begins with \"{}\"", options_.only)});
    json::array all;
    base::Table table({"CHECK", "THROUGH", "FOUND", "FAULT"});
    std::string troubles;
    std::set<std::string> untried; // the reasons
    bool sound = true;
    for (const auto& one : outcomes) {
        all.push_back(json::object{{"check", one.check},
                                   {"fault", one.fault},
                                   {"through", one.through},
                                   {"tried", one.tried},
                                   {"trouble", one.trouble}});
        table.add({one.check, one.through,
                   !one.tried     ? "not tried"
                   : one.failed() ? "NO"
                                  : "yes",
                   one.fault});
        if (!one.tried) untried.insert(fmt::format("{} not tried: {}\n", one.check, one.trouble));
        if (one.failed()) troubles += fmt::format("{}: {}: {}\n", one.check, one.fault, one.trouble);
        sound = sound && !one.failed();
    }
    if (options_.as_json)
        fmt::print("{}\n", base::to_pretty(all));
    else
        fmt::print("{}{}{}What doubles cannot prove is how fast a real part is, and that its driver answers "
                   "as they do.\n",
                   table.print(), fmt::join(untried, ""), troubles);
    return base::finish_output(cli, sound ? base::exit_done : base::exit_finding);
}

int SelftestCommand::run(const base::Cli& cli) const {
    if (options_.checks) return run_checks(cli);
    if (!options_.libraries.empty()) return cli.fail({base::Code::usage, "--library: goes with --checks"});
    const fs::path beside = base::conf_path(options_.config).parent_path() / "health.conf";
    const auto rules =
        restart::RuleSet::from_file(options_.rules.empty() ? beside : fs::path(options_.rules));
    if (!rules) return cli.fail(rules.error());
    if (!options_.rules.empty() && !fs::exists(options_.rules))
        return cli.fail({base::Code::not_found, options_.rules + ": no such file"});
    const auto scratch = Scratch::make();
    if (!scratch) return cli.fail(scratch.error());
    const auto bed = Bed::make(scratch->path(), options_.nvml);
    if (!bed) return cli.fail(bed.error());
    const auto fabric = FabricBed::make(options_.ibsim);
    if (!fabric) return cli.fail(fabric.error());
    const auto made = FabricBed::make({});
    if (!made) return cli.fail(made.error());
    for (const int number : {SIGINT, SIGTERM})
        std::signal(number, [](int taken) { interrupted = taken; });
    const bool terminal = !options_.as_json && ::isatty(STDERR_FILENO) != 0;
    int done = 0;
    const auto outcomes = selftest(*rules, options_.only, {**bed, **fabric, **made}, [&](const Outcome& one) {
        if (terminal) fmt::print(stderr, "\r{} rules, {}\033[K", ++done, one.rule);
        return interrupted == 0;
    });
    if (terminal) fmt::print(stderr, "\r\033[K");
    if (!outcomes) return cli.fail(outcomes.error());
    if (interrupted != 0) return 128 + interrupted;
    if (outcomes->empty())
        return cli.fail({base::Code::usage, fmt::format("no rule's name begins with \"{}\": nodewatchd "
                                                        "--print-rules lists them",
                                                        options_.only)});
    if (options_.as_json) {
        json::array all;
        for (const auto& one : *outcomes)
            all.push_back(to_json(one));
        fmt::print("{}\n", base::to_pretty(all));
    } else {
        print(*outcomes);
    }
    const bool sound =
        std::all_of(outcomes->begin(), outcomes->end(), [](const auto& one) { return one.sound(); });
    return base::finish_output(cli, sound ? base::exit_done : base::exit_finding);
}

} // namespace check
