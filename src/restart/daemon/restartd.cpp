// restartd: decides what to do about broken hosts and does it. main is the table of contents; the parts are
// the lease (whether this restartd acts), the journal (what was decided), the driver (step by step), the API
// (who may request what) and the server.
#include "base/cli.hpp"
#include "base/daemon.hpp"
#include "base/host_health.hpp"
#include "base/host_port.hpp"
#include "base/log.hpp"
#include "base/units.hpp"
#include "base/user.hpp"
#include "railyard_paths.h"
#include "restart/daemon/api.hpp"
#include "restart/daemon/driver.hpp"
#include "restart/daemon/front.hpp"
#include "restart/daemon/journal.hpp"
#include "restart/daemon/lease_keeper.hpp"
#include "restart/daemon/replay.hpp"
#include "restart/daemon/why_writer.hpp"
#include "restart/rm/lsf_rm.hpp"
#include "restart/rm/slurm_rm.hpp"
#include "restart/web/page_files.hpp"
#include "restart/wire/http_server.hpp"
#include "restart/wire/slurm_user.hpp"

#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unistd.h>

namespace {

using namespace restart;
namespace log = base::log;

constexpr base::Duration stop_patience{5'000};
constexpr base::Duration release_patience{2'000};
constexpr base::Duration first_look{2'000};
constexpr base::Duration lock_patience{2'000}; // of one that no longer acts
constexpr base::Duration lock_pause{20};
constexpr base::Duration lease_pause{100}; // between two checks whether it runs out
constexpr unsigned still_looks = 600;      // in a row without a tick, after which it is stuck: a minute
constexpr int exit_lapsed = 1;             // its unit starts it again, as a standby

// For display, and for a standby's answers.
std::string served_at(const std::string& listen) {
    auto at = *base::parse_listen(listen);
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    if (at.host == "0.0.0.0" || at.host == "::") at.host = name.data();
    return "http://" + at.print();
}

bool is_lsf(const base::Conf& conf) {
    return conf.restartd.resource_manager == "lsf";
}

DriverOptions driver_options(const base::Conf& conf) {
    DriverOptions options;
    options.programs = {conf.repair.gpu_reset_program, conf.repair.power_cycle_program,
                        conf.repair.program_limit, conf.repair.check_program, conf.repair.check_limit};
    options.policy = Policy::from(conf);
    if (is_lsf(conf) && conf.idle_checks.every != base::Duration{} && conf.idle_checks.partition.empty())
        log::warning("[idle_checks] every is set, but partition names no queue: no idle host is tried");
    options.poll = conf.restartd.poll_interval;
    options.fabric = conf.placement.fabric;
    options.health = base::health_path(conf.placement, conf.restartd);
    options.leaves_small = conf.placement.pack != "all";
    options.spare_risk = conf.placement.spare_risk;
    options.repair_time = conf.placement.repair_time;
    options.keep_history = conf.restartd.keep_history;
    options.explain_pending = conf.placement.explain_pending;
    for (const auto& text : conf.restartd.maintenance)
        options.maintenance.push_back(*base::parse_window(text)); // checked with the configuration
    options.keep_events = conf.restartd.keep_events << 20;
    return options;
}

base::Expected<std::unique_ptr<ResourceManager>> make_rm(const base::Conf& conf) {
    if (is_lsf(conf)) return make_lsf_rm(conf.lsf);
    return make_slurm_rm(std::filesystem::path(conf.restartd.journal).parent_path() / "kept");
}

// Agents and railctl accept answers from this user only.
base::Expected<void> runs_as(const std::string& configured, bool lsf) {
    if (configured.empty() && lsf)
        return base::Error{base::Code::input,
                           "[restartd] user is empty: under LSF it names LSF's administrator on all hosts, "
                           "as whom restartd runs and whom alone agents and railctl obey"};
    const auto known = configured.empty() ? known_slurm_user() : configured;
    const auto user = known.value_or("slurm");
    auto uid = base::find_uid(user);
    if (!uid) return std::move(uid).error().within(configured.empty() ? "SlurmUser" : "[restartd] user");
    if (*uid == ::geteuid()) return {};
    if (!known)
        return base::Error{base::Code::unavailable,
                           fmt::format("no slurm.conf can be read that would say SlurmUser, and this is {}",
                                       base::user_name(::geteuid()))};
    return base::Error{
        base::Code::input,
        fmt::format(
            "{} is {}, but this is {}: agents and railctl would obey none of its answers; start restartd "
            "as {} (systemctl edit restartd: [Service] User={}), or set [restartd] user on all hosts",
            configured.empty() ? "SlurmUser in slurm.conf" : "[restartd] user", user,
            base::user_name(::geteuid()), user, user)};
}

// The lock next to the journal, once it could be taken. It shows that a restartd has ended sooner than its
// lease. Used by the lease's thread, and after that by this one.
struct LockHeld {
    std::mutex mutex;
    std::optional<JournalLock> lock;
};

// Whether no one can act under this record. A lock on a file system shared with other machines counts only
// for processes of this machine.
bool nobody_holds(LockHeld& held, const std::filesystem::path& journal,
                  const std::optional<LeaseRecord>& record) {
    const std::lock_guard guard(held.mutex);
    if (!held.lock)
        if (auto taken = JournalLock::take(journal)) held.lock = *std::move(taken);
    if (!held.lock) return false;
    if (!record || record->boot == boot_of_this_machine() || held.lock->tells_of_all()) return true;
    held.lock.reset();
    return false;
}

std::unique_ptr<LeaseKeeper> make_keeper(const base::Conf& conf, std::shared_ptr<LockHeld> held) {
    LeaseOptions options;
    options.folder = lease_beside(conf.restartd.journal);
    options.lease = conf.restartd.lease;
    options.url = served_at(conf.restartd.listen);
    options.free = [held = std::move(held), journal = std::filesystem::path(conf.restartd.journal)](
                       const std::optional<LeaseRecord>& record) {
        return nobody_holds(*held, journal, record);
    };
    return std::make_unique<LeaseKeeper>(std::move(options));
}

// The holder of the lease took it from one that no longer acts: that one ends, or is stopped and cannot.
base::Expected<JournalLock> lock_of_primary(LockHeld& held, const std::filesystem::path& journal) {
    const std::lock_guard guard(held.mutex);
    for (const auto give_up = std::chrono::steady_clock::now() + lock_patience; !held.lock;) {
        auto taken = JournalLock::take(journal);
        if (taken) return taken;
        if (taken.error().code != base::Code::unavailable) return taken;
        if (std::chrono::steady_clock::now() > give_up) {
            log::warning("{}: it may act no more, and does not end: the journal is taken from it",
                         taken.error().text);
            return JournalLock::seize(journal);
        }
        std::this_thread::sleep_for(lock_pause);
    }
    return *std::move(held.lock);
}

base::Expected<Journal> take_over(LockHeld& held, LeaseKeeper& keeper, const std::filesystem::path& path) {
    auto lock = lock_of_primary(held, path);
    if (!lock) return std::move(lock).error();
    auto journal = Journal::open(path, *std::move(lock));
    if (!journal) return journal;
    const auto fence = journal->fence();
    if (!fence) return fence.error();
    if (fence->epoch >= keeper.standing().epoch) keeper.raise(fence->epoch); // the lease's files were lost
    for (const auto give_up = std::chrono::steady_clock::now() + lock_patience;
         keeper.acts() && keeper.standing().epoch <= fence->epoch &&
         std::chrono::steady_clock::now() < give_up;)
        std::this_thread::sleep_for(lock_pause);
    const auto epoch = keeper.standing().epoch;
    if (!keeper.acts() || epoch <= fence->epoch)
        return base::Error{base::Code::unavailable, "the lease was lost while the journal was opened"};
    if (auto done = journal->take_over({epoch, keeper.self().owner}); !done) return std::move(done).error();
    return journal;
}

// A page that is not there stops nothing else.
PageFiles page_of(const base::Conf& conf) {
    if (!conf.web.serve) return {};
    auto page = PageFiles::read(conf.web.files.empty() ? PKGDATADIR "/web" : conf.web.files);
    if (page) return *std::move(page);
    log::warning("[web] files: {}: no web page is served", page.error().text);
    return {};
}

// Everything that exists only while this restartd is the primary.
class Primary {
public:
    static base::Expected<std::unique_ptr<Primary>> make(Journal journal, ResourceManager& rm,
                                                         Metrics& metrics, const base::Conf& conf,
                                                         const LeaseKeeper& keeper) {
        auto tokens = MetricsTokens::read(conf.restartd.metrics_token);
        if (!tokens) return std::move(tokens).error();
        auto driver = Driver::make(std::move(journal), rm, metrics, options(conf, keeper));
        if (!driver) return std::move(driver).error();
        return std::unique_ptr<Primary>(
            new Primary(*std::move(driver), metrics, conf, *std::move(tokens), keeper));
    }

    Api& api() { return api_; }

    void start() {
        driver_->start();
        why_writer_.emplace(*driver_);
    }
    base::Expected<void> reload(const base::Conf& fresh) {
        auto tokens = MetricsTokens::read(fresh.restartd.metrics_token);
        if (!tokens) return tokens.error();
        api_.reload(Roles::from(fresh.restartd), MungeAuth(fresh.munge.socket, fresh.restartd.user),
                    *std::move(tokens), page_of(fresh));
        driver_->reload(options(fresh, keeper_));
        return {};
    }
    std::uint64_t ticks() const { return driver_->ticks(); }
    bool stop() {
        why_writer_.reset();
        return driver_->stop(stop_patience);
    }

private:
    Primary(std::unique_ptr<Driver> driver, Metrics& metrics, const base::Conf& conf, MetricsTokens tokens,
            const LeaseKeeper& keeper)
        : keeper_(keeper), driver_(std::move(driver)),
          api_(*driver_, metrics, Roles::from(conf.restartd),
               MungeAuth(conf.munge.socket, conf.restartd.user), std::move(tokens), page_of(conf)) {}

    static DriverOptions options(const base::Conf& conf, const LeaseKeeper& keeper) {
        auto options = driver_options(conf);
        options.may_act = [&keeper] { return keeper.acts(); };
        options.primary = {keeper.self().host, keeper.self().url, keeper.standing().epoch};
        return options;
    }

    const LeaseKeeper& keeper_;
    std::unique_ptr<Driver> driver_;
    Api api_;
    std::optional<WhyWriter> why_writer_;
};

// Only problems that an administrator must fix end with the status after which the unit does not restart it:
// a missing file, user or address may be available in a moment.
int give_up(const base::Cli& cli, const base::Error& error) {
    const auto status = cli.fail(error);
    const bool may_pass = error.code == base::Code::io || error.code == base::Code::not_found;
    return may_pass ? static_cast<int>(base::exit_finding) : status;
}

int serve(const base::Cli& cli, base::Daemon& daemon, base::Conf conf) {
    if (auto begun = daemon.begin(); !begun) return give_up(cli, begun.error());
    if (const auto right = runs_as(conf.restartd.user, is_lsf(conf)); !right)
        return give_up(cli, right.error());

    auto rm = make_rm(conf);
    if (!rm) return give_up(cli, rm.error());
    if (auto tokens = MetricsTokens::read(conf.restartd.metrics_token); !tokens)
        return give_up(cli, tokens.error());
    Metrics metrics;
    const auto held = std::make_shared<LockHeld>();
    const auto keeper = make_keeper(conf, held);
    Front front(*keeper);
    HttpLimits limits;
    limits.workers = Api::workers();
    HttpServer::Callbacks callbacks;
    callbacks.handle = [&](const HttpRequest& request) { return front.handle(request); };
    callbacks.admit = [&](HttpRequest& request) { return front.admits(request); };
    callbacks.lane = Api::lane;
    callbacks.refused = [&](std::string_view reason) { front.refused(reason); };
    std::unique_ptr<Primary> primary;
    std::optional<HttpServer> server;
    const auto become_primary = [&]() -> base::Expected<void> {
        auto journal = take_over(*held, *keeper, conf.restartd.journal);
        if (!journal) return std::move(journal).error();
        auto made = Primary::make(*std::move(journal), **rm, metrics, conf, *keeper);
        if (!made) return std::move(made).error();
        primary = *std::move(made);
        primary->start();
        front.open(primary->api());
        log::info("serving on {}{}", conf.restartd.listen,
                  conf.restartd.observe_only ? "; observe_only: nothing is drained or requeued" : "");
        return {};
    };
    const auto fail = [&](const base::Error& error) {
        keeper->release(release_patience);
        return give_up(cli, error);
    };

    auto started = HttpServer::start(*base::parse_listen(conf.restartd.listen), limits, callbacks);
    if (!started) return fail(std::move(started).error().within("[restartd] listen"));
    server.emplace(*std::move(started));
    keeper->wait_until_known(first_look);
    if (keeper->acts())
        if (auto done = become_primary(); !done) return fail(done.error());
    const auto reload = [&](const base::Conf& fresh) -> base::Expected<void> {
        const auto only_at_start = [](std::string_view key, const std::string& is, const std::string& was) {
            if (is != was) log::warning("[restartd] {} changed: it counts after a restart of restartd", key);
        };
        only_at_start("resource_manager", fresh.restartd.resource_manager, conf.restartd.resource_manager);
        only_at_start("listen", fresh.restartd.listen, conf.restartd.listen);
        only_at_start("journal", fresh.restartd.journal, conf.restartd.journal);
        only_at_start("user", fresh.restartd.user, conf.restartd.user);
        only_at_start("lease", base::format_duration(fresh.restartd.lease),
                      base::format_duration(conf.restartd.lease));
        if (primary)
            if (auto done = primary->reload(fresh); !done) return done;
        conf = fresh;
        return {};
    };
    if (auto said = daemon.serve(reload); !said) return fail(said.error());

    // Counted in looks, not in time: what stops this process stops the looks, too.
    std::uint64_t ticks = 0;
    unsigned still = 0;
    while (daemon.wait(lease_pause)) {
        if (!primary && keeper->acts()) {
            if (auto done = become_primary(); !done) return fail(done.error());
        } else if (primary && !keeper->acts()) {
            const auto standing = keeper->standing();
            log::error("the lease {}: this restartd ends, so that no two act{}{}",
                       standing.other && standing.other->epoch > standing.epoch ? "was taken over"
                                                                                : "ran out",
                       standing.trouble.empty() ? "" : ": ", standing.trouble);
            std::_Exit(exit_lapsed); // nothing more is written; threads may hang in the storage
        } else if (primary) {
            const auto now = primary->ticks();
            still = now == ticks ? still + 1 : 0;
            ticks = now;
            if (still < still_looks) continue;
            log::error("it has looked at nothing for a minute: this restartd ends, so that another acts");
            std::_Exit(exit_lapsed);
        }
    }

    log::info("stopping");
    server->stop();
    const bool ended = !primary || primary->stop();
    if (!ended)
        log::warning(
            "the resource manager has not answered a call: what it did is settled at the next start");
    // A hanging call has begun under this lease: only without one may the next restartd act at once.
    if (ended) {
        primary.reset(); // and with it the journal
        keeper->release(release_patience);
    }
    if (!ended) std::_Exit(base::exit_done); // the journal is complete
    return base::exit_done;
}

struct ReplayAsked {
    std::string journal;
    std::optional<std::string> from, until;
};

int replay_journal(const base::Cli& cli, const ReplayAsked& asked) {
    ReplayRange range;
    const auto take = [](const char* option, const std::optional<std::string>& text,
                         std::optional<ReplayPoint>& point) -> base::Expected<void> {
        if (!text) return {};
        auto read = parse_replay_point(*text);
        if (!read) return std::move(read).error().within(option);
        point = *read;
        return {};
    };
    if (const auto read = take("--from", asked.from, range.from); !read) return cli.fail(read.error());
    if (const auto read = take("--until", asked.until, range.until); !read) return cli.fail(read.error());
    const auto progress = [](const ReplayProgress& so_far) {
        fmt::print(stderr, "{} events{}, up to {}\n", so_far.event, so_far.passing ? " passed" : "",
                   base::iso_time(so_far.at));
    };
    const auto done = replay(asked.journal, progress, range);
    if (!done) return cli.fail(done.error());
    if (done->before)
        fmt::print("{}\nThat is before --from: what follows may differ for it.\n", *done->before);
    if (done->difference) {
        fmt::print("{}\n", *done->difference);
        return base::finish_output(cli, base::exit_finding);
    }
    const auto numbers = range.from || range.until
                             ? fmt::format(" ({} to {})", done->first, done->first + done->events - 1)
                             : std::string();
    const auto times =
        done->from ? fmt::format(" from {} to {}", base::iso_time(*done->from), base::iso_time(*done->until))
                   : std::string();
    fmt::print("{} event{}{}{}, {} of them with an outcome: all as in the journal\n", done->events,
               done->events == 1 ? "" : "s", numbers, times, done->outcomes);
    return base::finish_output(cli, base::exit_done);
}

} // namespace

int main(int argc, char** argv) {
    base::Cli cli("restartd", "Decide what to do about broken hosts, drain them and requeue their jobs.",
                  "restartd(8)");
    using Table = base::ConfTable;
    base::Daemon daemon(cli,
                        {Table::placement, Table::restartd, Table::agent, Table::node_loss, Table::checkpoint,
                         Table::learning, Table::restart, Table::repair, Table::straggler, Table::idle_checks,
                         Table::topology, Table::lsf, Table::web, Table::munge});
    bool verbose = false;
    cli->add_flag("--verbose", verbose, "Log what only developers need");
    ReplayAsked asked;
    auto* again = cli->add_option("--replay", asked.journal,
                                  "Do the decisions of this journal again and compare them, and exit")
                      ->type_name("JOURNAL");
    cli->add_option("--from", asked.from, "--replay: compare from this time or number of an event on")
        ->type_name("TIME|EVENT")
        ->needs(again);
    cli->add_option("--until", asked.until, "--replay: up to this one")
        ->type_name("TIME|EVENT")
        ->needs(again);
    int status = 0;
    if (!cli.parse(argc, argv, status)) return status;
    if (!asked.journal.empty()) return replay_journal(cli, asked);
    auto conf = daemon.configure(status, verbose ? log::Level::debug : log::Level::info);
    return conf ? serve(cli, daemon, *std::move(conf)) : status;
}
