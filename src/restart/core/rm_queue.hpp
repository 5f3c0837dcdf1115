// What the resource manager knows that placement depends on: read when somebody asks why a job waits or sits
// where it does, beside RmSnapshot, which is read all the time and kept in the journal.
#pragma once

#include "base/clock.hpp"
#include "base/host_state.hpp"
#include "sched/hints.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace restart {

struct QueueNode {
    std::string name;
    base::HostState state = base::HostState::down;
    std::string reason;    // of a drain or a down
    bool reserved = false; // within a reservation that is active
    std::uint32_t cpus_idle = 0;
    float health = 1; // as placement is told it; the driver's to fill in
};

enum class QueuePhase {
    waiting,
    placed, // runs, is suspended, or is being started on its nodes
    leaving // its processes are being ended
};

struct QueueJob {
    std::uint32_t id = 0;
    QueuePhase phase = QueuePhase::waiting;
    std::vector<std::string> partitions; // any of which will do
    std::vector<std::string> nodes;      // held; empty while waiting
    std::uint32_t least = 1, most = 0;   // nodes wanted; most 0: exactly `least`
    std::uint32_t cpus_per_node = 1;     // at least
    std::uint32_t restarts = 0;          // how often it was requeued
    bool exclusive = false;
    std::vector<std::string> required, excluded;
    base::Time eligible{};          // since when it may start
    base::Time start{};             // of its start; of a waiting job when it is expected, or 0
    std::optional<base::Time> ends; // by its limit; none: it has no limit
    std::string why;                // why it waits: "Resources"
    std::string constraint;         // node features it asks for
    std::string reservation;
    sched::Hints hints;
    std::string comment; // admin_comment as it is
};

struct RmQueue {
    base::Time read{};
    std::vector<QueueNode> nodes;
    std::vector<QueueJob> jobs;                                              // that wait, run or are leaving
    std::map<std::string, std::vector<std::string>, std::less<>> partitions; // nodes of each
};

} // namespace restart
