#include "sched/tool/sbatch.hpp"

#include <fmt/format.h>

#include <cctype>
#include <utility>

namespace sched::tool {
namespace {

using base::Code;
using base::Error;
using base::Expected;

// The options of sbatch in slurm_opt.c of Slurm 22.05.8 and 24.11.5, except those of job_options.cpp.
// clang-format off
constexpr SbatchOption passed_over[] = {
    {"account", 'A', true, false},
    {"acctg-freq", 0, true, false},
    {"array", 'a', true, true},
    {"batch", 0, true, false},
    {"bb", 0, true, false},
    {"bbf", 0, true, false},
    {"begin", 'b', true, false},
    {"chdir", 'D', true, false},
    {"cluster", 0, true, true},
    {"cluster-constraint", 0, true, true},
    {"clusters", 'M', true, true},
    {"comment", 0, true, false},
    {"constraint", 'C', true, true},
    {"container", 0, true, false},
    {"container-id", 0, true, false},
    {"context", 0, true, false},
    {"contiguous", 0, false, true},
    {"core-spec", 'S', true, true},
    {"cores-per-socket", 0, true, true},
    {"cpu-freq", 0, true, false},
    {"cpus-per-gpu", 0, true, true},
    {"cpus-per-task", 'c', true, true},
    {"deadline", 0, true, false},
    {"delay-boot", 0, true, false},
    {"dependency", 'd', true, false},
    {"distribution", 'm', true, false},
    {"error", 'e', true, false},
    {"export", 0, true, false},
    {"export-file", 0, true, false},
    {"extra", 0, true, false},
    {"extra-node-info", 'B', true, true},
    {"get-user-env", 0, false, false},
    {"gid", 0, true, false},
    {"gpu-bind", 0, true, false},
    {"gpu-freq", 0, true, false},
    {"gpus", 'G', true, true},
    {"gpus-per-node", 0, true, true},
    {"gpus-per-socket", 0, true, true},
    {"gpus-per-task", 0, true, true},
    {"gres", 0, true, true},
    {"gres-flags", 0, true, false},
    {"hint", 0, true, false},
    {"hold", 'H', false, false},
    {"ignore-pbs", 0, false, false},
    {"input", 'i', true, false},
    {"job-name", 'J', true, false},
    {"kill-on-invalid-dep", 0, true, false},
    {"licenses", 'L', true, true},
    {"mail-type", 0, true, false},
    {"mail-user", 0, true, false},
    {"mcs-label", 0, true, true},
    {"mem", 0, true, true},
    {"mem-bind", 0, true, false},
    {"mem-per-cpu", 0, true, true},
    {"mem-per-gpu", 0, true, true},
    {"mincpus", 0, true, true},
    {"network", 0, true, false},
    {"nice", 0, false, false},
    {"no-kill", 'k', false, false},
    {"ntasks-per-core", 0, true, true},
    {"ntasks-per-gpu", 0, true, true},
    {"ntasks-per-socket", 0, true, true},
    {"ntasks-per-tres", 0, true, true},
    {"oom-kill-step", 0, false, false},
    {"open-mode", 0, true, false},
    {"output", 'o', true, false},
    {"overcommit", 'O', false, false},
    {"parsable", 0, false, false},
    {"partition", 'p', true, true},
    {"power", 0, true, false},
    {"prefer", 0, true, true},
    {"priority", 0, true, false},
    {"profile", 0, true, false},
    {"propagate", 0, false, false},
    {"qos", 'q', true, true},
    {"quiet", 'Q', false, false},
    {"reboot", 0, false, false},
    {"reservation", 0, true, true},
    {"resv-ports", 0, false, false},
    {"signal", 0, true, false},
    {"sockets-per-node", 0, true, true},
    {"spread-job", 0, false, true},
    {"stepmgr", 0, false, false},
    {"test-only", 0, false, false},
    {"thread-spec", 0, true, true},
    {"threads-per-core", 0, true, true},
    {"time", 't', true, false},
    {"time-min", 0, true, false},
    {"tmp", 0, true, true},
    {"tres-bind", 0, true, false},
    {"tres-per-task", 0, true, true},
    {"uid", 0, true, false},
    {"verbose", 'v', false, false},
    {"wait", 'W', false, false},
    {"wait-all-nodes", 0, true, false},
    {"wckey", 0, true, false},
    {"wrap", 0, true, false},
};
// clang-format on

} // namespace

std::span<const SbatchOption> passed_over_options() {
    return passed_over;
}

Expected<std::vector<std::string>> split_words(std::string_view line) {
    std::vector<std::string> words;
    std::string word;
    bool in_word = false;
    char quote = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (quote == 0 && std::isspace(static_cast<unsigned char>(c)) != 0) {
            if (in_word) words.push_back(std::exchange(word, {}));
            in_word = false;
            continue;
        }
        if (quote == 0 && c == '#' && !in_word) break;
        in_word = true;
        if (c == '\\' && quote != '\'' && i + 1 < line.size())
            word += line[++i];
        else if (quote == 0 && (c == '"' || c == '\''))
            quote = c;
        else if (c == quote && quote != 0)
            quote = 0;
        else
            word += c;
    }
    if (quote != 0) return Error{Code::input, fmt::format("a quote ({}) is not closed", quote)};
    if (in_word) words.push_back(std::move(word));
    return words;
}

std::vector<ScriptLine> sbatch_lines(std::string_view script) {
    constexpr std::string_view mark = "#SBATCH";
    std::vector<ScriptLine> lines;
    for (std::size_t number = 1; !script.empty(); ++number) {
        const auto end = script.find('\n');
        const auto line = script.substr(0, end);
        script.remove_prefix(end == std::string_view::npos ? script.size() : end + 1);
        const auto text = line.find_first_not_of(" \t\r");
        if (text == std::string_view::npos) continue;
        if (line[text] != '#') break;
        if (line.starts_with(mark) && line.find_first_of(" \t", mark.size()) == mark.size())
            lines.push_back({number, line.substr(mark.size())});
    }
    return lines;
}

} // namespace sched::tool
