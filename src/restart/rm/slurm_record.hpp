// slurmctld's answer about one job. Only slurm_*.cpp files include this.
#pragma once

#include "restart/rm/slurm_calls.hpp"
#include "restart/rm/slurm_owned.hpp"
#include "restart/rm/slurm_reading.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace restart {

// The records of a job that may still run: one, or its components', the leader's first. For an array's own
// id, which is its last task's, slurmctld also returns other tasks.
class JobRecord {
public:
    JobRecord(Jobs message, std::uint32_t job) : message_(std::move(message)) {
        for (std::uint32_t i = 0; i < message_->record_count; ++i) {
            const auto& raw = message_->job_array[i];
            if (raw.job_id == job)
                parts_.insert(parts_.begin(), &raw);
            else if (raw.het_job_id == job)
                parts_.push_back(&raw);
        }
        if (parts_.empty() || parts_.front()->job_id != job) return;
        if (parts_.size() == 1 && parts_.front()->het_job_id != job) {
            whole_ = read_job(*parts_.front());
            return;
        }
        auto whole = read_whole_jobs(message_->job_array, message_->record_count);
        if (!whole.empty()) whole_ = std::move(whole.front());
    }
    bool lives() const { return whole_.phase != JobPhase::ended; }
    const RmJob& whole() const { return whole_; }
    // Whether any part of it is still in this start: slurmctld requeues only the component that was on a host
    // that it sets down, if that was its last, and forgets the others.
    bool runs_in(std::uint32_t epoch) const {
        return std::any_of(parts_.begin(), parts_.end(), [&](const job_info_t* part) {
            const auto read = read_job(*part);
            return read.restarts <= epoch && read.phase != JobPhase::pending && read.phase != JobPhase::ended;
        });
    }
    const job_info_t& own() const { return *parts_.front(); }
    const std::vector<const job_info_t*>& parts() const { return parts_; }

private:
    Jobs message_;
    std::vector<const job_info_t*> parts_;
    RmJob whole_ = [] {
        RmJob none;
        none.phase = JobPhase::ended;
        return none;
    }();
};

} // namespace restart
