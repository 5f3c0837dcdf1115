// railcheck: checks of a host, and of the rules it is watched by. Manual: railcheck(8).
#include "base/cli.hpp"
#include "base/conf.hpp"
#include "base/json.hpp"
#include "base/table.hpp"
#include "base/units.hpp"
#include "check/selftest.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

volatile std::sig_atomic_t interrupted = 0;

struct Options {
    std::string config, rules, nvml, ibsim, only;
    bool as_json = false;
};

// A directory of our own, removed at the end: under TMPDIR, else in memory, as sysfs is, where it takes a
// seventh of the time, else where temporary files usually are.
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

std::string verdict(const check::Outcome& one) {
    return one.trouble.empty() ? "ok" : one.trouble;
}

json::object to_json(const check::Outcome& one) {
    return {{"rule", one.rule},       {"signal", one.signal},
            {"through", one.through}, {"severity", one.severity},
            {"fires", one.fires},     {"after_s", std::chrono::duration<double>(one.after).count()},
            {"silent", one.silent},   {"trouble", one.trouble},
            {"source", one.source}};
}

std::string near_miss(const check::Outcome& one) {
    if (!one.silent) return "FIRES";
    return one.misses == 0 ? "none" : "silent";
}

std::string when(const check::Outcome& one) {
    if (!one.fires) return "NEVER";
    return one.after == base::Duration{0} ? "at once" : "after " + base::human_duration(one.after);
}

void print(const std::vector<check::Outcome>& outcomes) {
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

int run_selftest(const base::Cli& cli, const Options& options) {
    const fs::path beside = base::conf_path(options.config).parent_path() / "health.conf";
    const auto rules = restart::RuleSet::from_file(options.rules.empty() ? beside : fs::path(options.rules));
    if (!rules) return cli.fail(rules.error());
    if (!options.rules.empty() && !fs::exists(options.rules))
        return cli.fail({base::Code::not_found, options.rules + ": no such file"});
    const auto scratch = Scratch::make();
    if (!scratch) return cli.fail(scratch.error());
    const auto bed = check::Bed::make(scratch->path(), options.nvml);
    if (!bed) return cli.fail(bed.error());
    const auto fabric = check::FabricBed::make(options.ibsim);
    if (!fabric) return cli.fail(fabric.error());
    const auto made = check::FabricBed::make({});
    if (!made) return cli.fail(made.error());
    for (const int number : {SIGINT, SIGTERM})
        std::signal(number, [](int taken) { interrupted = taken; });
    const bool terminal = !options.as_json && ::isatty(STDERR_FILENO) != 0;
    int done = 0;
    const auto outcomes =
        check::selftest(*rules, options.only, {**bed, **fabric, **made}, [&](const check::Outcome& one) {
            if (terminal) fmt::print(stderr, "\r{} rules, {}\033[K", ++done, one.rule);
            return interrupted == 0;
        });
    if (terminal) fmt::print(stderr, "\r\033[K");
    if (!outcomes) return cli.fail(outcomes.error());
    if (interrupted != 0) return 128 + interrupted;
    if (outcomes->empty())
        return cli.fail({base::Code::usage, fmt::format("no rule's name begins with \"{}\": nodewatchd "
                                                        "--print-rules lists them",
                                                        options.only)});
    if (options.as_json) {
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

} // namespace

int main(int argc, char** argv) {
    base::Cli cli("railcheck", "Checks hosts, and the rules they are watched by.", "railcheck(8)");
    Options options;
    cli->require_subcommand(1);
    auto* selftest = cli->add_subcommand(
        "selftest", "Show that each rule of health.conf(5) fires at its fault and at nothing less");
    selftest->add_option("--config", options.config, "Configuration file, beside which health.conf stands")
        ->type_name("FILE");
    selftest->add_option("--rules", options.rules, "Rules (health.conf(5))")->type_name("FILE");
    selftest->add_option("--nvml", options.nvml, "A double of NVML, through which rules of GPUs are tested")
        ->type_name("LIBRARY");
    selftest
        ->add_option("--ibsim", options.ibsim,
                     "The console of an ibsim, on whose fabric rules of links are tested")
        ->type_name("PIPE");
    selftest->add_option("rule", options.only, "Only rules whose name begins so")->type_name("RULE");
    selftest->add_flag("--json", options.as_json, "Print JSON");
    int status = 0;
    if (!cli.parse(argc, argv, status)) return status;
    return run_selftest(cli, options);
}
