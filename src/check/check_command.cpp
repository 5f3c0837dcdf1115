#include "check/check_command.hpp"

#include "base/conf.hpp"
#include "base/json.hpp"
#include "base/units.hpp"
#include "check/words.hpp"
#include "restart/watch/rules_file.hpp"
#include "restart/watch/run_apart.hpp"
#include "topo/excerpt.hpp"
#include "topo/fabric_json.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace check {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

// A signal that ends the program: its number, and a pipe that is readable from then on.
std::atomic<int> interrupted = 0;
std::array<int, 2> interrupt_pipe{-1, -1};

void interrupt(int number) {
    interrupted = number;
    const auto kept = errno;
    (void)!::write(interrupt_pipe[1], "i", 1);
    errno = kept;
}

std::string short_host_name() {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    const std::string whole = name.data();
    return whole.substr(0, whole.find('.'));
}

// This host's part of the file, which may be on storage that hangs; if there is none, an empty fabric and the
// reason. A missing file is not an error: rails are then unknown.
topo::Fabric read_host(const std::string& path, const std::string& host, bool named, int interrupt,
                       std::string& why) {
    if (path.empty()) return {};
    const auto text = restart::run_apart(
        [&]() -> base::Expected<std::string> {
            std::error_code failed;
            if (!named && !std::filesystem::exists(path, failed)) return std::string();
            const auto excerpt = topo::read_excerpt(path, host);
            if (!excerpt) return excerpt.error();
            return topo::print_fabric(excerpt->fabric);
        },
        2s, interrupt);
    if (text && text->empty()) return {};
    if (!text) {
        why = text.error().text;
        return {};
    }
    auto fabric = topo::parse_fabric(*text, path);
    if (!fabric)
        why = fabric.error().text;
    else if (fabric->hosts.empty())
        why = fmt::format("{}: has no host {}", path, host);
    else
        return *std::move(fabric);
    return {};
}

} // namespace

CheckCommand::CheckCommand(std::vector<CheckRow> rows) : rows_(std::move(rows)) {
    for (const auto& row : rows_)
        checks_.push_back(row.make());
}

void CheckCommand::add_options(base::Words& words) {
    add_level(words, options_.level,
              "1: less than 2 s, safe beside a job; 2: less than 1 min; 3: minutes, on an idle host");
    words
        .add_option("--deadline", options_.deadline,
                    "Give up what has not ended within this time, such as \"20s\"")
        ->type_name("TIME");
    add_json(words, options_.as_json);
    add_config(words, options_.config);
    add_rules(words, options_.rules);
    add_fabric(words, options_.fabric);
    words.add_option("--host", options_.host, "This host's name in the fabric file")->type_name("NAME");
    add_nvml(words, options_.nvml);
    add_libraries(words, options_.libraries);
    words.add_option("--sysfs", options_.sysfs, "Where sysfs is mounted")->type_name("DIR");
    // Checks share option names: these are added only where a single check runs.
    if (checks_.size() == 1) checks_.front()->add_options(words);
}

base::Expected<Request> request_of(const CheckOptions& options) {
    const auto conf = base::load_conf(options.config);
    if (!conf) return conf.error();
    auto rules = restart::read_rules(*conf, options.rules);
    if (!rules) return std::move(rules).error();
    auto expected = restart::Expectations::from_file(restart::rules_path(*conf, options.rules));
    if (!expected) return std::move(expected).error();
    Request request;
    request.level = options.level;
    if (!options.deadline.empty()) {
        auto deadline = base::parse_duration(options.deadline);
        if (!deadline) return std::move(deadline).error().within("--deadline");
        request.deadline = *deadline;
    }
    request.rules = *std::move(rules);
    request.limits.throttle_evicts = {conf->throttle.reasons.begin(), conf->throttle.reasons.end()};
    request.limits.throttle_window = conf->throttle.window;
    request.limits.clear = conf->throttle.clear;
    request.expected = *std::move(expected);
    request.host = options.host.empty() ? short_host_name() : options.host;
    request.sysfs = options.sysfs.empty() ? conf->agent.sysfs : options.sysfs;
    request.nvml = options.nvml.empty() ? conf->agent.nvml : options.nvml;
    request.libraries = options.libraries;
    request.mounts = conf->agent.mounts;
    request.interrupt = interrupt_pipe[0];
    std::string why;
    request.fabric = read_host(options.fabric.empty() ? conf->placement.fabric : options.fabric, request.host,
                               !options.fabric.empty(), request.interrupt, why);
    if (!why.empty() && !options.fabric.empty()) return base::Error{base::Code::input, why};
    if (!why.empty()) fmt::print(stderr, "railcheck: {}: rails are not named\n", why);
    return request;
}

int CheckCommand::run(const base::Cli& cli) {
    if (::pipe2(interrupt_pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0)
        return cli.fail(base::system_error("pipe", errno));
    struct sigaction action {};
    action.sa_handler = interrupt;
    for (const int number : {SIGINT, SIGTERM})
        ::sigaction(number, &action, nullptr);
    auto given = request_of(options_);
    if (!given) return cli.fail(given.error());
    const bool terminal = !options_.as_json && ::isatty(STDERR_FILENO) != 0;
    if (terminal) given->progress = [](std::string_view step) { fmt::print(stderr, "\r{}\033[K", step); };
    std::vector<Result> results;
    for (auto& check : checks_) {
        if (interrupted != 0) break;
        auto found = check->run(*given);
        std::move(found.begin(), found.end(), std::back_inserter(results));
    }
    if (terminal) fmt::print(stderr, "\r\033[K");
    if (interrupted != 0) return 128 + interrupted;
    if (options_.as_json) {
        json::array all;
        for (const auto& one : results)
            all.push_back(to_json(one));
        fmt::print("{}", base::to_pretty(all));
    } else {
        fmt::print("{}", print(results));
    }
    return base::finish_output(cli, exit_status(results));
}

} // namespace check
