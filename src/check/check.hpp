// A subcommand of railcheck that tries a part of this host, and what it is given. A new one is a class here
// and a row of checks.cpp.
#pragma once

#include "base/cli.hpp"
#include "base/clock.hpp"
#include "check/result.hpp"
#include "restart/watch/rules/expectations.hpp"
#include "restart/watch/rules/rule_book.hpp"
#include "restart/watch/rules/rule_set.hpp"
#include "topo/fabric.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace check {

// What a check of a level takes at most of a sound part that has been started. 1 is safe beside a job, 3 for
// an idle host.
constexpr base::Duration level_takes(int level) {
    return std::chrono::seconds(level == 1 ? 2 : level == 2 ? 60 : 300);
}

// What every check is given.
struct Request {
    int level = 1; // 1 to 3
    std::optional<base::Duration>
        deadline{}; // of each process, instead of the check's own; one below level_takes() blames nobody
    restart::RuleSet rules;
    restart::Limits limits; // what railyard.conf says to the rules
    restart::Expectations expected;
    std::string host;                   // this one, as fabric.json has it
    topo::Fabric fabric;                // this host alone; no host at all when it is not known
    std::filesystem::path sysfs;        // "/sys"
    std::string nvml;                   // the library's name or path
    std::vector<std::string> libraries; // paths to try before the usual names of libcuda, libcublas, libnccl
    std::vector<std::string> mounts;    // that railyard.conf names
    std::function<void(std::string_view)> progress = [](std::string_view) {}; // one phrase, for people
    int interrupt = -1; // readable once the user wants an end
};

class Check {
public:
    virtual ~Check() = default;
    // Options of its own beside those of every check. They are stored in this object.
    virtual void add_options(base::Words&) {}
    // Never throws, never hangs: what may block runs in a child process (apart.hpp). What could not be tried
    // is a result that says so.
    virtual std::vector<Result> run(const Request& request) = 0;
};

struct CheckRow {
    std::string_view name;  // of the subcommand
    std::string_view about; // one sentence
    std::unique_ptr<Check> (*make)();
    bool in_all = true; // `railcheck all` runs it; not what needs other hosts
};

// In the order in which `all` runs them.
std::span<const CheckRow> checks();

// What is expected of `result.test` for the first of `kinds` ("NVIDIA H100 80GB HBM3", "PCIe 5 x16") that
// has a row, and the verdict that follows from it: bad below the row's least share, above it for what should
// be small.
void judge(Result& result, const restart::Expectations& expected, std::span<const std::string> kinds);

} // namespace check
