// The names of enumerators in JSON, notes and logs. Include only from .cpp files.
#pragma once

#include "restart/core/facts/action.hpp"
#include "restart/core/facts/gang_plan.hpp"
#include "restart/core/facts/idle_check.hpp"
#include "restart/core/facts/incident.hpp"
#include "restart/core/facts/note.hpp"
#include "restart/core/facts/peer_looks.hpp"
#include "restart/core/facts/repair_state.hpp"
#include "restart/core/facts/rm.hpp"
#include "restart/wire/codec.hpp"

#include <array>

namespace restart::codec {

template <> struct Names<ActionKind> {
    static constexpr std::array<std::string_view, 14> names{
        "drain_host",  "down_host", "resume_host", "requeue_job", "update_job", "keep_off",  "tell_job",
        "repair_host", "free_host", "place_job",   "park_job",    "check_host", "end_check", "submit_again"};
};
template <> struct Names<NoteKind> {
    static constexpr std::array<std::string_view, 4> names{"signal", "decision", "action", "outcome"};
};
template <> struct Names<GangStage> {
    static constexpr std::array<std::string_view, 5> names{"ordered", "released", "parking", "failed",
                                                           "requeuing"};
};
template <> struct Names<IdleCheckStage> {
    static constexpr std::array<std::string_view, 6> names{"none", "ordered", "given",
                                                           "seen", "ending",  "over"};
};
template <> struct Names<JobPhase> {
    static constexpr std::array<std::string_view, 5> names{"pending", "running", "suspended", "completing",
                                                           "ended"};
};
template <> struct Names<IncidentKind> {
    static constexpr std::array<std::string_view, 11> names{
        "node_loss",  "bad_host",     "operator_wish", "mass_silence", "exclusion", "job_failure",
        "wrong_file", "common_cause", "departure",     "repair",       "preflight"};
};
template <> struct Names<Rung> {
    static constexpr std::array<std::string_view, 7> names{"nothing",     "wait",  "gpu_reset", "reboot",
                                                           "power_cycle", "hands", "check"};
};
template <> struct Names<RepairStage> {
    static constexpr std::array<std::string_view, 6> names{"waiting",   "acting", "watching",
                                                           "returning", "hands",  "checking"};
};
template <> struct Names<FaultClass> {
    static constexpr std::array<std::string_view, 10> names{
        "other",     "gpu_slow",  "link",     "pcie",       "hca_gone",
        "gpu_error", "gpu_stuck", "gpu_gone", "gpu_broken", "host_lost"};
};
template <> struct Names<Phase> {
    static constexpr std::array<std::string_view, 6> names{"suspected", "saving",   "moving",
                                                           "verifying", "watching", "withheld"};
};
template <> struct Names<LookStage> {
    static constexpr std::array<std::string_view, 3> names{"over", "host", "compare"};
};
template <> struct Names<PeerView> {
    static constexpr std::array<std::string_view, 5> names{"none", "differ", "mute", "unreached", "reached"};
};
template <> struct Names<Progress> {
    static constexpr std::array<std::string_view, 6> names{"given", "doubtful", "waiting",
                                                           "done",  "failed",   "overtaken"};
};

template <class T> std::string_view name(T word) {
    return Names<T>::names.at(static_cast<std::size_t>(word));
}

} // namespace restart::codec
