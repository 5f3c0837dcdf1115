#include "restart/run/lsf_job.hpp"

#include "base/hostlist.hpp"
#include "base/units.hpp"
#include "restart/lsf/allocation.hpp"
#include "restart/lsf/job_environment.hpp"
#include "restart/lsf/shell.hpp"
#include "restart/run/left_over.hpp"
#include "sched/lsf/program_path.hpp"
#include "spank/environment.hpp"

#include <fmt/format.h>

#include <limits>
#include <map>

namespace restart::run {
namespace {

using base::Code;
using base::Error;
using base::Expected;

// The variables by which LSF describes a job's hosts, if it has set them, for these.
void describe(Started& started, const Given& given, const lsf::Allocation& hosts) {
    std::string pairs, names;
    std::uint64_t slots = 0;
    for (std::size_t i = 0; i < hosts.hosts.size(); ++i) {
        pairs += fmt::format("{} {} ", hosts.hosts[i], hosts.slots[i]);
        for (std::uint32_t slot = 0; slot < hosts.slots[i]; ++slot)
            names += fmt::format("{}{}", names.empty() ? "" : " ", hosts.hosts[i]);
        slots += hosts.slots[i];
    }
    const std::pair<const char*, std::string> variables[] = {{"LSB_MCPU_HOSTS", pairs},
                                                             {"LSB_HOSTS", names},
                                                             {"LSB_DJOB_NUMPROC", fmt::format("{}", slots)},
                                                             {"LSB_DJOB_HOSTFILE", {}}};
    for (const auto& [name, value] : variables)
        if (given.get(name)) started.environment[name] = value;
}

class LsfJob final : public OwnJob {
public:
    LsfJob(base::JobId id, Lookup get) : id_(id), get_(std::move(get)) {}

    std::optional<base::JobId> id() const override { return id_; }
    std::optional<std::uint32_t> starts_before() const override {
        const auto count = base::parse_count(get_("RAIL_RESTART_COUNT").value_or("0"));
        if (!count || *count > std::numeric_limits<std::uint32_t>::max()) return {};
        return static_cast<std::uint32_t>(*count);
    }
    Expected<Hosts> hosts() override {
        auto allocation = lsf::allocation_of(get_);
        if (!allocation) return std::move(allocation).error();
        return std::move(allocation->hosts);
    }
    Expected<void> check(const Given& given, const Seats& seats) const override {
        return check_lsf_command(given, seats);
    }
    Started command_on(const Given& given, const Seats& seats, const Hosts&,
                       const std::string& hostfile) const override {
        auto started = lsf_command_on(given, seats, hostfile, sched::lsf::program_path("rail-lsf-rsh"));
        return started ? *std::move(started) : Started{given.words, {}, {}}; // hosts() read the same before
    }
    std::vector<OnHosts> on_each(const Words& check, const Hosts& hosts) const override {
        return lsf_on_each(check, hosts, sched::lsf::program_path("rail-lsf-rsh"));
    }
    Started by_mpi(const Words& check, const Hosts& hosts, std::size_t each,
                   const std::string& hostfile) const override {
        Words words{"mpirun", "-np", fmt::format("{}", hosts.size() * each), "--map-by",
                    fmt::format("ppr:{}:node", each)};
        words.insert(words.end(), check.begin(), check.end());
        auto started = command_on({words, get_, true}, {hosts, {}}, hosts, hostfile);
        for (const auto& name : spank::claimed("RAIL_EXPORTS", get_))
            started.environment[name] = std::nullopt;
        started.environment["RAIL_BIND"] = "off";
        return started;
    }
    void kill_launches() override {} // railrun kills the launcher, and leftovers before the next one
    void clear_before_launch() override { left_over_.end(); }
    bool reached_launcher(const signalfd_siginfo& what) const override { return lsf::sent_by_lsf(what); }
    bool may_requeue() const override { return false; }
    Expected<void> requeue() override {
        return Error{Code::unfit, "under LSF restartd requeues the job, see railyard-lsf(7)"};
    }
    bool can_warm() const override { return false; }

private:
    base::JobId id_;
    Lookup get_;
    LeftOver left_over_;
};

} // namespace

Expected<void> check_lsf_command(const Given& given, const Seats& seats) {
    const auto& name = given.words.front();
    if (name == "srun" || name.ends_with("/srun"))
        return Error{Code::usage, "srun is Slurm's and starts nothing under LSF: railrun mpirun PROGRAM"};
    return check_command(given, seats);
}

Expected<Started> lsf_command_on(const Given& given, const Seats& seats, const std::string& hostfile,
                                 const std::string& agent) {
    const auto all = lsf::allocation_of(given.get);
    if (!all) return all.error();
    std::map<std::string_view, std::uint32_t> slots;
    for (std::size_t i = 0; i < all->hosts.size(); ++i)
        slots[all->hosts[i]] = all->slots[i];
    lsf::Allocation hosts;
    for (const auto& host : seats.ranks) {
        const auto found = slots.find(host);
        hosts.hosts.push_back(host);
        hosts.slots.push_back(found == slots.end() ? 1 : found->second);
    }
    Started started{given.words, {}, {}};
    describe(started, given, hosts);
    const spank::RankLists lists{seats.ranks, {}};
    for (auto& [name, value] : lsf::order_variables(lists, hostfile, agent, given.get))
        started.environment[name] = value;
    if (given.get("LSB_DJOB_HOSTFILE")) started.environment["LSB_DJOB_HOSTFILE"] = hostfile;
    started.hostfile = lsf::hostfile_of(lists, hosts);
    return started;
}

namespace {

// Quoted as one word for a shell.
std::string shell_word(std::string_view word) {
    std::string out = "'";
    for (const char c : word)
        if (c == '\'')
            out += "'\\''";
        else
            out += c;
    return out += '\'';
}

} // namespace

std::vector<OnHosts> lsf_on_each(const Words& check, const Hosts& hosts, const std::string& agent) {
    std::vector<OnHosts> all;
    const auto list = base::fold_hostlist(hosts);
    for (const auto& host : hosts) {
        Started started{{agent, host}, {}, {}};
        for (const auto& word : check)
            started.words.push_back(shell_word(word));
        started.words.push_back(shell_word("--hosts=" + list));
        started.words.push_back(fmt::format("--rank={}", all.size()));
        started.environment["RAIL_BIND"] = "off"; // all GPUs of the job, regardless of the rank's share
        started.environment["RAIL_PREFLIGHT"] = std::nullopt;
        all.push_back({std::move(started), {host}});
    }
    return all;
}

Expected<std::unique_ptr<OwnJob>> own_lsf_job(const Lookup& get) {
    const auto id = lsf::job_of(get);
    if (!id) return id.error();
    if (get("OMPI_COMM_WORLD_RANK") || get("PMI_RANK"))
        return Error{Code::usage, "this is a rank of a launch already: run it in the job's script"};
    return std::unique_ptr<OwnJob>(std::make_unique<LsfJob>(*id, get));
}

} // namespace restart::run
