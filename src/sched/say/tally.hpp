// The parts of a fabric that may hold a gang, and the state of their hosts for a request: the numbers behind
// "the fullest, su3, has 19 free, 9 busy, 4 drained for link errors".
#pragma once

#include "sched/search/found.hpp"
#include "sched/search/loads.hpp"
#include "topo/fabric.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sched {

// What sentences may mention besides a Snapshot and a Request.
struct Remarks {
    std::vector<std::string> why; // by host, why it is drained or down; "" if unknown; empty: none is known
    std::string excluded = "excluded by the request"; // what Request::excluded means
    bool wish = false; // the span is a wish that ends (Hints::span_wait): afterwards the job runs without it
};

// A resource manager's reason in the format of `why`: one line, without ';', at most 60 bytes; for Railyard's
// own, "railyard[...]: WHAT: EVIDENCE", only WHAT. "" for "none".
std::string remark_of(std::string_view reason);

// Hosts order[first … first + size) of PlacementIndex.
struct Part {
    std::string name;
    std::uint32_t first = 0;
    std::uint32_t size = 0;
};

std::string_view part_noun(Tier tier); // "unit", "pod", "connected part", "fabric"
// What a span keeps a job within; "NVLink domain" if the fabric has any.
std::string_view part_noun(const PlacementIndex& index, Span span);

// All of them; one for the whole fabric if it is connected.
std::vector<Part> parts_of(const topo::Fabric& fabric, const PlacementIndex& index, Span span);

struct Tally {
    std::uint32_t free = 0, busy = 0, drained = 0, down = 0, unhealthy = 0, excluded = 0, required = 0;
    std::map<std::string, std::uint32_t> drained_why, down_why; // hosts by reason, if one is known

    // `excluded_hosts`: by host; empty: none.
    Tally(const Loads& loads, const std::vector<std::uint8_t>& excluded_hosts, const Part& part,
          const Remarks& remarks);

    // "19 free, 9 busy, 4 drained for link errors": free always, the others if present.
    std::string text(const Remarks& remarks) const;
};

} // namespace sched
