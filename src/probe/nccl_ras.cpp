#include "probe/nccl_ras.hpp"

#include "base/unique_fd.hpp"
#include "base/units.hpp"
#include "base/utf8.hpp"
#include "base/wait_ready.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <system_error>

namespace probe {
namespace {

using base::Code;
using base::Error;
using base::Expected;
using Clock = std::chrono::steady_clock;

// Removes a prefix. False: the text does not begin with it and is unchanged.
bool take_word(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

std::optional<std::uint64_t> take_count(std::string_view& text) {
    std::uint64_t number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed != std::errc{}) return {};
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

// The part before the mark, removed as well; all if there is none.
std::string_view take_until(std::string_view& text, std::string_view mark) {
    const auto at = text.find(mark);
    const auto head = text.substr(0, at);
    text.remove_prefix(at == std::string_view::npos ? text.size() : at + mark.size());
    return head;
}

// "Process 2096 on node 10.0.0.3 managing GPU 6"
std::optional<RasProcess> process_of(std::string_view line) {
    RasProcess process;
    if (!take_word(line, "Process ")) return {};
    const auto pid = take_count(line);
    if (!pid || !take_word(line, " on node ")) return {};
    process.pid = static_cast<std::uint32_t>(*pid);
    process.node = base::printable(take_until(line, " managing GPU"), 64);
    take_word(line, "s");
    take_word(line, " ");
    process.gpu = base::printable(line, 64);
    return process;
}

// "Rank 14 -- GPU 6 managed by process 2096 on node 10.0.0.3"; between the rank and the dashes may be what it
// did.
std::optional<RasProcess> rank_of(std::string_view line, std::string_view* did = nullptr) {
    RasProcess process;
    if (!take_word(line, "Rank ")) return {};
    const auto rank = take_count(line);
    if (!rank || *rank > 1'000'000'000) return {};
    process.rank = static_cast<std::int64_t>(*rank);
    const auto what = take_until(line, "-- ");
    if (did != nullptr) *did = what;
    if (!take_word(line, "GPU ")) return process; // [process information not found]
    process.gpu = base::printable(take_until(line, " managed by process "), 64);
    if (const auto pid = take_count(line)) process.pid = static_cast<std::uint32_t>(*pid);
    take_word(line, " on node ");
    process.node = base::printable(line, 64);
    return process;
}

// Parses line by line, tracking section and communicator.
class Lines {
public:
    explicit Lines(RasStatus& into) : into_(into) {}

    bool seen_summary = false, seen_warnings = false;

    void line(std::string_view line) {
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (take_word(line, "NCCL version ")) {
            into_.version = base::printable(take_until(line, " "), 64);
        } else if (line.starts_with("Job summary")) {
            seen_summary = true;
        } else if (line == "Errors" || line == "Warnings") {
            seen_warnings = seen_warnings || line == "Warnings";
            communicator_ = nullptr;
        } else if (line == "INCOMPLETE" || line == "DEAD" || line == "TIMEOUT") {
            communicator_ = nullptr;
        } else if (take_word(line, "#")) {
            begin(line);
        } else if (take_word(line, "  ")) {
            detail(line);
        }
    }

private:
    // "0-0 (cf264af53edbe986) MISMATCH"
    void begin(std::string_view line) {
        communicator_ = nullptr;
        take_until(line, "(");
        const auto id = base::printable(take_until(line, ") "), 32);
        auto& list = into_.communicators;
        auto found = std::find_if(list.begin(), list.end(), [&](const auto& one) { return one.id == id; });
        if (found == list.end()) {
            if (id.empty() || list.size() >= most_ras_items) return;
            list.emplace_back().id = id;
            found = std::prev(list.end());
        }
        communicator_ = &*found;
        lag_ = none;
        if (line.starts_with("ERROR")) communicator_->error = true;
    }

    void detail(std::string_view line) {
        if (communicator_ == nullptr) return of_job(line);
        auto& one = *communicator_;
        auto rest = line;
        if (take_word(rest, "Missing communicator data from ")) {
            one.missing = take_count(rest).value_or(0);
            lag_ = none;
        } else if (take_word(rest, "Communicator ranks have different ")) {
            lag_ = none;
            any_ = false;
            group_ = 0;
            if (rest.starts_with("status")) {
                one.mixed = true;
            } else if (one.lags.size() < 16) {
                lag_ = one.lags.size();
                one.lags.emplace_back().operation = base::printable(take_until(rest, " operation"), 32);
            }
        } else if (lag_ != none) {
            of_lag(one.lags[lag_], line);
        } else if (auto process = rank_of(line); process && one.missing > 0 && !one.error && !one.mixed) {
            if (one.missing_ranks.size() < most_ras_items) one.missing_ranks.push_back(*std::move(process));
        } else if (one.error && one.reports.size() < 16 &&
                   line.find(" reported ") != std::string_view::npos) {
            one.reports.push_back(base::printable(line, 128));
        }
    }

    void of_job(std::string_view line) {
        auto rest = line;
        if (take_word(rest, "Missing communicator data from ")) {
            into_.missing = take_count(rest).value_or(0);
        } else if (take_word(rest, "Encountered ")) {
            into_.timeouts = take_count(rest).value_or(0);
        } else if (auto process = process_of(line)) {
            if (into_.lost.size() < most_ras_items) into_.lost.push_back(*std::move(process));
        } else if (line.find(" considered dead") != std::string_view::npos) {
            into_.dead = take_count(rest).value_or(0);
        }
    }

    // The largest group of ranks comes first, then the others: each group's count, followed by its ranks.
    void of_lag(RasLag& lag, std::string_view line) {
        std::string_view did;
        auto process = rank_of(line, &did);
        auto rest = process ? did : line;
        std::optional<std::uint64_t> count;
        if (rest.find("have not launched") != std::string_view::npos ||
            rest.find("has not launched") != std::string_view::npos)
            count = 0;
        else if (const auto at = rest.find("launched up to operation "); at != std::string_view::npos) {
            rest.remove_prefix(at + std::string_view("launched up to operation ").size());
            count = take_count(rest);
        }
        if (count) {
            if (!any_) lag.most = lag.least = *count;
            any_ = true;
            lag.least = std::min(lag.least, *count);
            group_ = *count;
        }
        if (process && group_ < lag.most && lag.behind.size() < most_ras_items)
            lag.behind.push_back(*std::move(process));
    }

    static constexpr std::size_t none = static_cast<std::size_t>(-1);
    RasStatus& into_;
    RasCommunicator* communicator_ = nullptr; // that the lines are about; null: the job
    std::size_t lag_ = none;
    bool any_ = false; // whether a group of ranks of this lag was read
    std::uint64_t group_ = 0;
};

Error silent(std::string_view why) {
    return {Code::unavailable, fmt::format("NCCL's RAS at localhost: {}", why)};
}

Expected<base::UniqueFd> connected(int family, std::uint16_t port, Clock::time_point deadline) {
    base::UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd) return silent(std::generic_category().message(errno));
    sockaddr_in four{};
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    six.sin6_addr = in6addr_loopback;
    const auto* address = family == AF_INET ? reinterpret_cast<const sockaddr*>(&four)
                                            : reinterpret_cast<const sockaddr*>(&six);
    const auto size = static_cast<socklen_t>(family == AF_INET ? sizeof four : sizeof six);
    if (::connect(fd.get(), address, size) == 0) return fd;
    if (errno != EINPROGRESS) return silent(std::generic_category().message(errno));
    if (!base::wait_ready(fd.get(), POLLOUT, deadline)) return silent("takes no connection");
    int failed = 0;
    socklen_t length = sizeof failed;
    ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &failed, &length);
    if (failed != 0) return silent(std::generic_category().message(failed));
    return fd;
}

Expected<void> say(int fd, std::string_view line, Clock::time_point deadline) {
    while (!line.empty()) {
        const auto n = ::send(fd, line.data(), line.size(), MSG_NOSIGNAL);
        if (n >= 0)
            line.remove_prefix(static_cast<std::size_t>(n));
        else if (errno == EAGAIN) {
            if (!base::wait_ready(fd, POLLOUT, deadline)) return silent("takes no question");
        } else if (errno != EINTR)
            return silent(std::generic_category().message(errno));
    }
    return {};
}

// Reads until `enough` or the end of the connection. True: the connection ended.
template <class Enough>
Expected<bool> hear(int fd, std::string& into, Clock::time_point deadline, Enough enough) {
    std::array<char, 16'384> block{};
    while (!enough()) {
        const auto n = ::recv(fd, block.data(), block.size(), 0);
        if (n == 0) return true;
        if (n > 0) {
            into.append(block.data(), static_cast<std::size_t>(n));
            if (into.size() > most_ras_bytes)
                return Error{Code::input,
                             fmt::format("NCCL's RAS at localhost: its answer is longer than {} bytes",
                                         most_ras_bytes)};
        } else if (errno == EAGAIN) {
            if (!base::wait_ready(fd, POLLIN, deadline)) return silent("no answer in time");
        } else if (errno != EINTR) {
            return silent(std::generic_category().message(errno));
        }
    }
    return false;
}

std::string ranks_text(const std::vector<RasProcess>& processes) {
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(processes.size(), 4); ++i) {
        const auto& one = processes[i];
        text += i == 0 ? "" : ", ";
        if (one.rank >= 0) text += fmt::format("rank {}", one.rank);
        if (one.pid != 0)
            text += fmt::format("{}{}process {} on {}{}", one.rank >= 0 ? " (" : "",
                                one.gpu.empty() ? "" : fmt::format("GPU {}, ", one.gpu), one.pid, one.node,
                                one.rank >= 0 ? ")" : "");
    }
    if (processes.size() > 4) text += fmt::format(" and {} more", processes.size() - 4);
    return text;
}

} // namespace

Expected<RasStatus> read_ras(std::string_view text) {
    RasStatus status;
    Lines lines(status);
    while (!text.empty())
        lines.line(take_until(text, "\n"));
    if (!lines.seen_summary)
        return Error{Code::input, "not the answer of NCCL's RAS to VERBOSE STATUS: it has no job summary"};
    if (!lines.seen_warnings)
        return Error{Code::input, "the answer of NCCL's RAS was cut: its warnings are missing"};
    return status;
}

Expected<std::string> ask_ras(base::Duration patience, std::uint16_t port) {
    const auto deadline = Clock::now() + patience;
    auto fd = connected(AF_INET, port, deadline);
    if (!fd) fd = connected(AF_INET6, port, deadline);
    if (!fd) return std::move(fd).error();
    // NCCL's timeout for each step of its query: less than ours, or no answer arrives in time.
    const auto leg = std::max<std::int64_t>(1, base::Duration(patience).count() / 4'000);
    if (auto said = say(fd->get(), fmt::format("CLIENT PROTOCOL 2\nTIMEOUT {}\n", leg), deadline); !said)
        return std::move(said).error();
    std::string greeting;
    const auto lines = [&] { return std::count(greeting.begin(), greeting.end(), '\n') >= 2; };
    if (auto ended = hear(fd->get(), greeting, deadline, [&] { return lines() || greeting.size() > 4'096; });
        !ended)
        return std::move(ended).error();
    if (!greeting.starts_with("SERVER PROTOCOL ") || greeting.find("\nOK\n") == std::string::npos)
        return Error{Code::input, fmt::format("port {} of localhost is not NCCL's RAS: it says \"{}\"", port,
                                              base::printable(greeting, 64))};
    if (auto said = say(fd->get(), "VERBOSE STATUS\n", deadline); !said) return std::move(said).error();
    std::string answer;
    if (auto ended = hear(fd->get(), answer, deadline, [] { return false; }); !ended)
        return std::move(ended).error();
    return answer;
}

std::vector<std::string> ras_troubles(const RasStatus& now, const RasStatus* before, std::size_t most,
                                      std::size_t longest) {
    std::vector<std::string> troubles;
    const auto add = [&](const std::string& text) {
        if (troubles.size() < most) troubles.push_back(base::printable(text, longest));
    };
    if (now.dead > 0)
        add(fmt::format("{} of its processes are dead to the others: {}", now.dead, ranks_text(now.lost)));
    if (now.missing > 0)
        add(fmt::format("{} of its processes do not answer: {}", now.missing, ranks_text(now.lost)));
    for (const auto& one : now.communicators)
        if (one.missing > 0)
            add(fmt::format("communicator {} misses {} ranks: {}", one.id, one.missing,
                            ranks_text(one.missing_ranks)));
    for (const auto& one : now.communicators)
        if (one.error)
            add(fmt::format("communicator {} has errors: {}", one.id,
                            one.reports.empty() ? std::string("not said which") : one.reports.front()));
    for (const auto& one : now.communicators) {
        if (before == nullptr) break;
        const auto was = std::find_if(before->communicators.begin(), before->communicators.end(),
                                      [&](const auto& other) { return other.id == one.id; });
        if (was == before->communicators.end()) continue;
        for (const auto& lag : one.lags) {
            const auto old = std::find_if(was->lags.begin(), was->lags.end(), [&](const RasLag& other) {
                return other.operation == lag.operation;
            });
            if (old == was->lags.end() || old->least != lag.least || lag.least >= lag.most) continue;
            add(fmt::format("communicator {} is stuck: most ranks launched {} {}, these still {}: {}", one.id,
                            lag.operation, lag.most, lag.least, ranks_text(lag.behind)));
        }
    }
    return troubles;
}

} // namespace probe
