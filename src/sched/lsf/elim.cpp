// elim.rail: reports this host's health, as found by nodewatchd, to LSF's lim. Manual: elim.rail(8).
#include "base/agent_paths.hpp"
#include "base/cli.hpp"
#include "base/conf.hpp"
#include "sched/lsf/elim_line.hpp"
#include "sched/lsf/metrics_socket.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <optional>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/ioctl.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;

// lim reads one line about every 5 s: if lines queued up, it would read ever older values.
constexpr auto every = 5s;
constexpr auto look_again = 1s; // until lim has read the last line
constexpr base::Duration patience = 2s;
// A restarting agent or a page that was missed changes nothing for this long.
constexpr base::Duration counts_for = 30s;
constexpr int needless = 97; // lim does not restart an elim that exits with this: ELIM_ABORT_VALUE

class Health {
public:
    explicit Health(std::filesystem::path socket) : socket_(std::move(socket)) {}

    int now() {
        const auto page = sched::lsf::ask_metrics(socket_, patience);
        const auto fresh = page ? sched::lsf::health_of(*page, base::now(), counts_for) : std::nullopt;
        tell(fresh  ? std::string()
             : page ? fmt::format("nodewatchd at {}: what it answers is old, or no page of its metrics",
                                  socket_.string())
                    : page.error().text);
        const auto moment = std::chrono::steady_clock::now();
        if (fresh) {
            last_ = *fresh;
            heard_ = moment;
        }
        const bool known = heard_ && moment - *heard_ < counts_for;
        return known ? last_ : sched::lsf::unknown;
    }

private:
    // Logged when it begins and when it is over; standard error goes to lim's log.
    void tell(const std::string& trouble) {
        if (trouble != trouble_)
            fmt::print(stderr, "elim.rail: {}\n", trouble.empty() ? "nodewatchd answers" : trouble);
        trouble_ = trouble;
    }

    std::filesystem::path socket_;
    int last_ = sched::lsf::unknown;
    std::optional<std::chrono::steady_clock::time_point> heard_;
    std::string trouble_;
};

bool write_all(std::string_view text) {
    while (!text.empty()) {
        const auto n = ::write(STDOUT_FILENO, text.data(), text.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
}

// Whether the next line may be written. If it cannot be determined, as for a file, it may. It also may if lim
// has gone: the write fails then, although data that lim has not read stays in the pipe.
bool is_taken() {
    pollfd lim{STDOUT_FILENO, 0, 0};
    if (::poll(&lim, 1, 0) > 0) return true;
    int unread = 0;
    return ::ioctl(STDOUT_FILENO, FIONREAD, &unread) != 0 || unread <= 0;
}

} // namespace

int main(int argc, char** argv) {
    base::Cli cli("elim.rail", "Tells LSF's lim how sound this host is, by what nodewatchd finds.",
                  "elim.rail(8)");
    std::string config;
    bool once = false;
    cli->add_option("--config", config, "Configuration file");
    cli->add_flag("--once", once, "Print one line and exit");
    int status = 0;
    if (!cli.parse(argc, argv, status)) return status;
    const auto conf = base::load_conf(config, {base::ConfTable::agent});
    if (!conf) return cli.fail(conf.error());
    const auto socket = base::metrics_socket(conf->agent);
    if (socket.empty())
        return cli.fail({base::Code::input, "[agent] metrics_socket is empty: without it nodewatchd tells "
                                            "nothing here; name one, such as \"metrics.sock\""});
    const char* wanted = std::getenv("LSF_RESOURCES");
    if (sched::lsf::elim_line(0, wanted).empty()) {
        fmt::print(stderr,
                   "elim.rail: LSF asks for {}, neither health nor planned: lsf.shared and lsf.cluster "
                   "define them, see elim.rail(8)\n",
                   wanted);
        return needless;
    }
    std::signal(SIGPIPE, SIG_IGN); // lim has ended: exit
    for (Health health(socket);;) {
        const auto due = std::chrono::steady_clock::now() + every;
        if (!write_all(sched::lsf::elim_line(health.now(), wanted)))
            return once ? base::exit_usage : base::exit_done;
        if (once) return base::exit_done;
        for (std::this_thread::sleep_until(due); !is_taken();)
            std::this_thread::sleep_for(look_again);
    }
}
