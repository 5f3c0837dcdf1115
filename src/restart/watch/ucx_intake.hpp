// The statistics of one job's processes on this host: datagrams go in, the book's sums grow. Pure: no socket.
#pragma once

#include "probe/ucx_statistics.hpp"
#include "restart/watch/ucx_book.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

namespace restart {

class UcxIntake {
public:
    // The book counts for the job until this goes. It must have let the job in (UcxBook::join).
    UcxIntake(UcxBook& book, const JobKey& job) : book_(book), job_(job) {}
    UcxIntake(const UcxIntake&) = delete;
    UcxIntake& operator=(const UcxIntake&) = delete;
    ~UcxIntake() { book_.leave(job_); }

    // A datagram of the process behind this port.
    void take(std::uint16_t sender, std::span<const std::byte> datagram, base::Time now);

private:
    UcxBook& book_;
    JobKey job_;
    probe::UcxDatagrams datagrams_;
    std::map<std::uint16_t, probe::UcxStatistics>
        last_; // of each sender; as many as datagrams_ knows, at most
};

} // namespace restart
