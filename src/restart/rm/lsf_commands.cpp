#include "restart/rm/lsf_commands.hpp"

#include "base/child.hpp"
#include "base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <unistd.h>

namespace restart {
namespace {

using base::Code;
using base::Error;

// LSF's commands retry for ever while mbatchd is away.
constexpr base::Duration answer_within{10'000};
constexpr std::size_t longest_words = 300;

struct Meaning {
    std::string_view words;
    Code code;
};
constexpr std::array meanings{
    Meaning{"is not found", Code::not_found},
    Meaning{"No matching job found", Code::not_found},
    Meaning{"Job has already finished", Code::not_found},
    Meaning{"Bad host name", Code::not_found},
    Meaning{"permission denied", Code::denied},
    Meaning{"User cannot use the queue", Code::denied},
    Meaning{"still trying", Code::unavailable},
    Meaning{"not responding", Code::unavailable},
    Meaning{"is down", Code::unavailable},
    Meaning{"Failed in an LSF library call", Code::unavailable},
    Meaning{"Communication time out", Code::unavailable},
    Meaning{"System call failed", Code::unavailable},
    Meaning{"query limit exceeded", Code::unavailable}, // MAX_CONCURRENT_QUERY
    Meaning{"Please wait", Code::unavailable},
};

// Beginnings of lines that LSF prints to standard error while mbatchd is busy or away, before the answer.
constexpr std::array<std::string_view, 5> notices{
    "LSF is processing your request", "LSF is down", "Cannot connect to LSF",
    "batch system daemon not responding", "batch daemon not responding"};

// The output of a list without rows.
constexpr std::array<std::string_view, 3> empty_lists{"No unfinished job found", "No job found",
                                                      "No pending job found"};

Code meaning_of(std::string_view said) {
    const auto found = std::find_if(meanings.begin(), meanings.end(), [&](const Meaning& meaning) {
        return said.find(meaning.words) != std::string_view::npos;
    });
    return found == meanings.end() ? Code::unfit : found->code;
}

std::string without_notices(std::string text) {
    for (std::size_t from = 0; from < text.size();) {
        const auto end = std::min(text.find('\n', from), text.size() - 1) + 1;
        const auto line = std::string_view(text).substr(from, end - from);
        if (std::any_of(notices.begin(), notices.end(),
                        [&](std::string_view notice) { return line.starts_with(notice); }))
            text.erase(from, end - from);
        else
            from = end;
    }
    return text;
}

} // namespace

base::Expected<std::string> LsfCommands::run(std::vector<std::string> words,
                                             std::vector<std::string> with) const {
    const auto name = words.at(0);
    if (!folder_.empty()) words[0] = (folder_ / name).string();
    const auto program = words[0];
    // A host with the number of its slots, instead of its name for each; messages in English.
    with.insert(with.end(), {"LSB_SHORT_HOSTLIST=1", "LC_ALL=C"});
    auto ended = base::run_to_end(std::move(words), answer_within, with);
    if (!ended && ended.error().code == Code::not_found)
        return Error{
            Code::unavailable,
            fmt::format("{}: there is no such program {}: [lsf] bindir says where LSF's commands are", name,
                        folder_.empty() ? "on PATH" : "in " + folder_.string())};
    if (!ended) { // the command's name says more than its path
        auto error = std::move(ended).error();
        if (error.text.starts_with(program)) error.text.replace(0, program.size(), name);
        return error;
    }
    auto answer = without_notices(ended->output);
    if (ended->status == 0) return answer;
    if (std::any_of(empty_lists.begin(), empty_lists.end(),
                    [&](std::string_view text) { return answer.starts_with(text); }))
        return std::string();
    const std::string_view said = answer.empty() ? ended->output : answer;
    auto text = base::printable(said.substr(0, said.find_last_not_of(" \n") + 1), longest_words);
    if (text.empty()) text = fmt::format("ended with status {}", ended->status);
    return Error{meaning_of(said), fmt::format("{}: {}", name, text)};
}

bool LsfCommands::has(const std::string& name) const {
    const auto runs = [&](const std::filesystem::path& folder) {
        return ::access((folder / name).c_str(), X_OK) == 0;
    };
    if (!folder_.empty()) return runs(folder_);
    const char* path = std::getenv("PATH");
    std::string_view rest = path == nullptr ? "" : path;
    while (!rest.empty()) {
        const auto end = std::min(rest.find(':'), rest.size());
        if (end > 0 && runs(rest.substr(0, end))) return true;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return false;
}

} // namespace restart
