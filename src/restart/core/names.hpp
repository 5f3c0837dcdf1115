// The words for enumerations in JSON, notes and logs. Include only from .cpp files.
#pragma once

#include "restart/core/action.hpp"
#include "restart/core/incident.hpp"
#include "restart/core/note.hpp"
#include "restart/core/rm_snapshot.hpp"
#include "restart/wire/codec.hpp"

#include <array>

namespace restart::codec {

template <> struct Names<ActionKind> {
    static constexpr std::array<std::string_view, 7> names{
        "drain_host", "down_host", "resume_host", "requeue_job", "update_job", "keep_off", "tell_job"};
};
template <> struct Names<NoteKind> {
    static constexpr std::array<std::string_view, 4> names{"signal", "decision", "action", "outcome"};
};
template <> struct Names<JobPhase> {
    static constexpr std::array<std::string_view, 5> names{"pending", "running", "suspended", "completing",
                                                           "ended"};
};
template <> struct Names<IncidentKind> {
    static constexpr std::array<std::string_view, 6> names{"node_loss",    "bad_host",  "operator_wish",
                                                           "mass_silence", "exclusion", "wrong_file"};
};
template <> struct Names<Phase> {
    static constexpr std::array<std::string_view, 5> names{"suspected", "saving", "moving", "verifying",
                                                           "watching"};
};
template <> struct Names<Progress> {
    static constexpr std::array<std::string_view, 6> names{"given", "doubtful", "waiting",
                                                           "done",  "failed",   "overtaken"};
};

template <class T> std::string_view name(T word) {
    return Names<T>::names.at(static_cast<std::size_t>(word));
}

} // namespace restart::codec
