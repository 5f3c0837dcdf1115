// The tooltips of a picture. Internal to src/topo/draw.
#pragma once

#include "topo/draw/marks.hpp"
#include "topo/draw/overlay.hpp"

#include <string>
#include <vector>

namespace topo::draw {

// Several lines each, without a newline at the end. A view of its arguments.
class Words {
public:
    Words(const Fabric& fabric, const Overlay& overlay, const Marks& marks);

    std::string host(std::uint32_t host) const;
    std::string port(std::uint32_t host, int hca, int port, int rail) const; // of one tick
    std::string link(std::size_t link) const;
    std::string switch_(std::size_t index) const;
    std::string domain(int domain, const std::vector<std::uint32_t>& hosts) const; // of these hosts of a unit

    const std::vector<std::size_t>& jobs_of(std::uint32_t host) const { return jobs_[host]; }

    // "A" … "Z", "AA" …: the letter in the picture for the job at this index in Overlay::jobs.
    static std::string letter(std::size_t job);
    static std::string_view state(base::HostState state); // "allocated"

private:
    std::string findings(const Mark* mark) const;

    const Fabric& fabric_;
    const Overlay& overlay_;
    const Marks& marks_;
    std::vector<std::vector<std::size_t>> jobs_;  // by host
    std::vector<std::vector<std::size_t>> links_; // by switch
    std::map<std::size_t, Mark> switch_marks_;
};

// The location of a job: "64 hosts in 2 units of pod1".
std::string whereabouts(const Fabric& fabric, const JobOverlay& job);

} // namespace topo::draw
