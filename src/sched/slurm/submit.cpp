#include "sched/slurm/submit.h"

#include "sched/advise/placement_files.hpp"
#include "sched/ask/spare_floor.hpp"
#include "sched/slurm/admin_comment.hpp"
#include "sched/slurm/submission.hpp"

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

struct rail_gate {
    explicit rail_gate(rail_log to)
        : log(to),
          files({.manager = "Slurm",
                 .log =
                     [to](sched::PlacementFiles::Level level, const std::string& text) {
                         // The node-selecting plugin logs what is read; here only errors matter.
                         if (level == sched::PlacementFiles::Level::error) to(RAIL_LOG_ERROR, text.c_str());
                     },
                 .fabric =
                     [this](topo::Fabric&& fabric, const base::Conf& conf) {
                         auto found = sched::Capacity::of(fabric);
                         found.spare_floor = sched::spare_floor_of(conf.placement, conf.checkpoint, fabric);
                         const std::lock_guard lock(mutex);
                         configured = {found.spare_floor, conf.placement.spare_risk};
                         found.spare_floor = wanted_floor();
                         capacity = found;
                         return true;
                     },
                 .health = {},
                 .spares =
                     [this](const std::optional<base::SpareFloor>& floor) {
                         const std::lock_guard lock(mutex);
                         learned = floor;
                         if (capacity) capacity->spare_floor = wanted_floor();
                     }}) {}

    std::optional<sched::Capacity> current() {
        const std::lock_guard lock(mutex);
        return capacity;
    }

    const rail_log log;
    std::mutex mutex; // guards the following members
    std::optional<sched::Capacity> capacity;
    base::SpareFloor configured;
    std::optional<base::SpareFloor> learned;

    // A learned value is only valid for the risk that it was computed for. With `mutex` held.
    std::uint32_t wanted_floor() const {
        return learned && learned->risk == configured.risk ? learned->hosts : configured.hosts;
    }
    sched::PlacementFiles files; // last: its thread uses the rest
};

namespace {

char* c_copy(const std::string& text) {
    return text.empty() ? nullptr : ::strdup(text.c_str());
}

constexpr const char* unchecked = "out of memory: flags are not checked until there is more";

// No opinion.
void pass(rail_verdict& verdict) {
    std::free(verdict.message);
    std::free(verdict.admin_comment);
    verdict = {true, false, nullptr, nullptr};
}

void refuse(rail_verdict& verdict, const base::Error& error) {
    verdict.accepted = false;
    verdict.message = c_copy(error.text);
}

} // namespace

rail_gate* rail_gate_open(rail_log log) {
    try {
        return new rail_gate(log);
    } catch (...) {
        log(RAIL_LOG_ERROR, unchecked);
        return nullptr;
    }
}

void rail_gate_close(rail_gate* gate) {
    delete gate;
}

void rail_gate_submit(rail_gate* gate, const rail_submission* from, rail_verdict* verdict) {
    *verdict = {true, false, nullptr, nullptr};
    try {
        sched::Submission submission;
        for (std::uint32_t i = 0; i < from->count; ++i)
            submission.variables.emplace_back(from->variables[i]);
        if (from->admin_comment != nullptr) submission.admin_comment = from->admin_comment;
        submission.nodes = from->nodes;
        submission.most = from->most;
        submission.batch = from->batch;
        submission.no_kill = from->no_kill;
        submission.segment = from->segment;
        submission.spread_segments = from->spread_segments;
        submission.exclusive_topo_of_nothing = from->exclusive_topo_of_nothing;
        if (from->requeue >= 0) submission.requeue = from->requeue != 0;
        const auto accepted = sched::judge(submission, gate->current());
        if (!accepted) return refuse(*verdict, accepted.error());
        verdict->set_requeue = accepted->set_requeue;
        verdict->message = c_copy(accepted->note);
        if (accepted->admin_comment != submission.admin_comment)
            verdict->admin_comment = c_copy(accepted->admin_comment);
    } catch (...) {
        pass(*verdict);
        gate->log(RAIL_LOG_ERROR, unchecked);
    }
}

void rail_gate_change(rail_gate* gate, const rail_change* change, rail_verdict* verdict) {
    *verdict = {true, false, nullptr, nullptr};
    try {
        const std::string_view before = change->before != nullptr ? change->before : "";
        auto hints = sched::parse_comment(before);
        if (change->after != nullptr) {
            auto wanted = sched::parse_comment(change->after);
            if (!wanted) return refuse(*verdict, wanted.error());
            if (!wanted->empty()) {
                hints = std::move(wanted);
            } else if (hints && !hints->empty()) {
                verdict->admin_comment = c_copy(sched::merge_comment(change->after, *hints));
            }
        }
        if (!hints) return; // what is already there is not checked
        const auto fits = sched::judge_nodes(*hints, change->nodes, change->most, gate->current());
        if (!fits) refuse(*verdict, fits.error());
    } catch (...) {
        pass(*verdict);
        gate->log(RAIL_LOG_ERROR, unchecked);
    }
}
