#include "bench/restartd_yard.hpp"

#include "base/file.hpp"
#include "restart/daemon/api.hpp"
#include "restart/daemon/driver.hpp"
#include "restart/wire/http_server.hpp"
#include "unit/restart/daemon/rm_double.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <sstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace bench {
namespace {

using namespace std::chrono_literals;

[[noreturn]] void give_up(std::string_view why) {
    fmt::print(stderr, "restartd_bench: {}\n", why);
    std::_Exit(1);
}

restart::RmJob running(std::size_t number, const std::string& host) {
    restart::RmJob job;
    job.id = base::JobId(number + 1);
    job.name = to_string(job.id);
    job.phase = restart::JobPhase::running;
    job.nodes = {host};
    job.node_count = 1;
    job.restart = true;
    job.requeue = true;
    return job;
}

void fill(restart::Journal& journal, const std::vector<std::string>& hosts, std::size_t notes) {
    constexpr std::size_t at_once = 10'000;
    const auto now = base::now();
    for (std::size_t i = 0; i < notes;) {
        restart::Record record;
        for (const auto end = std::min(notes, i + at_once); i < end; ++i)
            record.notes.push_back(
                {now, restart::NoteKind::signal, "", hosts[i % hosts.size()], {}, "a link came back"});
        if (const auto done = journal.commit(record, now); !done) give_up(done.error().text);
    }
}

// Serves until the leash closes.
[[noreturn]] void serve(const Yard::Options& options, const std::filesystem::path& folder,
                        const std::string& munge, int leash, int answer) {
    const auto hosts = host_names(options.hosts);
    std::optional<test::RmDouble> rm;
    std::optional<restart::Metrics> metrics;
    std::unique_ptr<restart::Driver> driver;
    std::optional<restart::Api> api;
    restart::HttpLimits limits;
    restart::HttpServer::Callbacks callbacks;
    if (options.limit) {
        callbacks.handle = [](const restart::HttpRequest&) { return restart::HttpResponse{204, {}}; };
    } else {
        rm.emplace(hosts);
        rm->change([&](restart::RmSnapshot& world) {
            for (std::size_t j = 0; j < options.jobs; ++j)
                world.jobs.push_back(running(j, hosts[j % hosts.size()]));
        });
        auto journal = restart::Journal::open(folder / "journal.db");
        if (!journal) give_up(journal.error().text);
        fill(*journal, hosts, options.notes);
        restart::DriverOptions wishes;
        wishes.policy.observe_only = false;
        metrics.emplace();
        auto made = restart::Driver::make(*std::move(journal), *rm, *metrics, wishes);
        if (!made) give_up(made.error().text);
        driver = *std::move(made);
        driver->start();
        restart::Roles roles;
        roles.agent_uid = ::geteuid();
        api.emplace(*driver, *metrics, roles, restart::MungeAuth(munge));
        limits.workers = restart::Api::workers();
        callbacks.handle = [&](const restart::HttpRequest& request) { return api->handle(request); };
        callbacks.admit = [&](restart::HttpRequest& request) { return api->admits(request); };
        callbacks.lane = restart::Api::lane;
        while (!driver->refresh(10s)) {}
    }
    const auto server = restart::HttpServer::start({"127.0.0.1", 0}, limits, callbacks);
    if (!server) give_up(server.error().text);
    const auto port = server->port();
    if (::write(answer, &port, sizeof port) != sizeof port) give_up("nobody waits for the port");
    char byte = 0;
    while (::read(leash, &byte, 1) < 0) {}
    std::_Exit(0); // the folder goes with the bench
}

double cpu_of(pid_t pid) {
    auto text = base::read_file(fmt::format("/proc/{}/stat", pid)).value_or("");
    std::istringstream fields(text.substr(text.rfind(')') + 1));
    std::string skipped;
    double user = 0, system = 0;
    for (int i = 0; i < 11; ++i)
        fields >> skipped;
    fields >> user >> system;
    return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

} // namespace

std::vector<std::string> host_names(std::size_t hosts) {
    std::vector<std::string> list;
    for (std::size_t i = 1; i <= hosts; ++i)
        list.push_back(fmt::format("n{:05}", i));
    return list;
}

Yard::Yard(const Options& options) {
    if (!options.limit && !munged_.up()) {
        fmt::print("skipped: {}\n", munged_.why());
        std::exit(77);
    }
    int leash[2], answer[2];
    if (::pipe(leash) != 0 || ::pipe(answer) != 0) give_up("no pipes");
    pid_ = ::fork();
    if (pid_ == 0) {
        ::close(leash[1]);
        ::close(answer[0]);
        serve(options, folder_.path, munged_.socket(), leash[0], answer[1]);
    }
    ::close(leash[0]);
    ::close(answer[1]);
    leash_ = leash[1];
    if (::read(answer[0], &port_, sizeof port_) != sizeof port_) give_up("restartd did not start");
    ::close(answer[0]);
}

Yard::~Yard() {
    ::close(leash_);
    ::waitpid(pid_, nullptr, 0);
}

double Yard::cpu() const {
    return cpu_of(pid_);
}

double Yard::munged_cpu() const {
    return cpu_of(munged_.pid());
}

std::size_t Yard::memory() const {
    const auto text = base::read_file(fmt::format("/proc/{}/statm", pid_)).value_or("0 0");
    return std::strtoul(text.c_str() + text.find(' '), nullptr, 10) *
           static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

} // namespace bench
