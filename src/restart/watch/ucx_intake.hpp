// The statistics of one job's processes on this host: takes datagrams and updates the book's sums. Pure: no
// socket.
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
    // The book accepts statistics of the job until destruction. It must have admitted the job
    // (UcxBook::join).
    UcxIntake(UcxBook& book, const JobKey& job) : book_(book), job_(job) {}
    UcxIntake(const UcxIntake&) = delete;
    UcxIntake& operator=(const UcxIntake&) = delete;
    ~UcxIntake() { book_.leave(job_); }

    // A datagram from the process at this port.
    void take(std::uint16_t sender, std::span<const std::byte> datagram, base::Time now);

private:
    UcxBook& book_;
    JobKey job_;
    probe::UcxDatagrams datagrams_;
    std::map<std::uint16_t, probe::UcxStatistics> last_; // of each sender; at most as many as datagrams_ has
};

} // namespace restart
