// The safe order in which placement and flags are switched on and off: facts in, steps out. Pure. The facts
// show what is done already, so an interrupted plan continues where it stopped.
#pragma once

#include "restart/ctl/enable/facts.hpp"
#include "restart/ctl/enable/slurm_text.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restart::enable {

enum class Part {
    placement, // what chooses nodes, what checks submissions, and when switched on the flags
    flags,     // spank_rail.so in plugstack.conf
    acting,    // restartd carries out its decisions
};

struct Wish {
    bool on = true;
    Part part = Part::placement;
    std::optional<Way> way; // none: the one of the release
    // Command lines of programs that reach hosts; empty: an administrator does that.
    std::string run_on_hosts, copy_to_hosts;
    std::string unit = "slurmctld", node_unit = "slurmd"; // of systemd
};

// Why it cannot be done in the present situation.
struct Obstacle {
    std::string code; // an identifier for scripts
    std::string text, fix;
    bool of_apply = false; // only prevents doing it from here, now; the plan can still be read
    bool operator==(const Obstacle&) const = default;
};

struct FileChange {
    std::string path;
    std::optional<std::string> before; // none: it does not exist
    std::string after;
    bool operator==(const FileChange&) const = default;
};

enum class Where { head, backup, hosts };
std::string_view to_string(Where where);

struct Step {
    std::string id; // "slurmctld.stop"; used by apply.hpp
    Where where = Where::head;
    bool done = false;
    std::string text;                  // a sentence without a full stop
    std::vector<std::string> commands; // for an administrator; those for hosts are one line for each tool
    bool operator==(const Step&) const = default;
};

struct Plan {
    bool on = true;
    Part part = Part::placement;
    Way way = Way::select;
    std::vector<Obstacle> obstacles;
    std::vector<std::string> notes;
    std::vector<Step> steps;
    std::vector<SettingChange> settings; // to be made
    std::vector<FileChange> files;       // that make them
    bool hosts_first = false;            // slurmds must have restarted before slurmctld starts
    std::vector<std::string> shared;     // files that must be the same on every host as on the head node
    std::optional<base::Time> changed;   // slurmds must have started after this; none: not changed yet
    std::vector<std::string> late;       // hosts that still run with the former slurm.conf, or are away
    std::vector<std::string> back;       // hosts that were late, and drained for it, and no longer are

    bool nothing_to_do() const;
    const Step* due(std::string_view id) const;
};

Plan make_plan(const Facts& facts, const Wish& wish);

std::string_view to_string(Way way);
std::string_view to_string(Part part);
std::optional<Part> part_of(std::string_view word);
std::optional<Way> way_of(std::string_view word);

// Hosts that answer and whose slurmd was started before the change.
std::vector<std::string> stale_hosts(const Facts& facts, base::Time changed);
// These, and hosts that do not answer and have not registered since the change.
std::vector<const Host*> late_hosts(const Facts& facts, base::Time changed);

// Hosts whose slurmd runs with another SelectType than the one wanted, as their nodewatchd reports. Without
// one, or before it has reported, nothing is known.
std::vector<std::string> hosts_with_other_plugins(const doctor::Facts& facts, bool on);

// The command that checks a host; `conf`: also whether its slurm.conf has placement on, or off.
std::vector<std::string> check_host_words(const Facts& facts, Way way, std::string_view conf = {});

// The reason of drains by `railctl enable`, and of no others.
inline constexpr std::string_view drain_reason = "railctl enable: restart slurmd with the new slurm.conf";

} // namespace restart::enable
