// Faults planted into a fabric as it was read, before it is known which host an HCA is in: names, roles,
// rails and units are found anew from the faulty text, as they are for a user.
#pragma once

#include "topo/check/check.hpp"
#include "topo/fabric.hpp"
#include "topo/read/raw_fabric.hpp"

#include <array>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace faults {

struct Kind {
    std::string_view name;
    std::vector<std::string_view> codes; // of findings that are the right ones; none: nothing is to be found
};
const std::vector<Kind>& kinds();

struct Planted {
    std::size_t kind = 0;            // index into kinds()
    std::vector<std::string> places; // a finding that names one of them is at the right place
};

// The description of an HCA that nobody has named.
inline constexpr std::string_view nameless = "MT4129 ConnectX7   Mellanox Technologies";

// Whether the finding is that fault at its place; host lists in its ends are unfolded.
bool is_at(const topo::Finding& finding, const Planted& planted);

class Planter {
public:
    // `sound`: what `raw` is assembled to.
    Planter(topo::RawFabric raw, topo::Fabric sound, unsigned seed);

    // False when there is no place left for it; each host, leaf and spine is used once.
    bool plant(std::size_t kind);

    const topo::RawFabric& raw() const { return raw_; }
    const std::vector<Planted>& planted() const { return planted_; }

private:
    using Guid = topo::Guid;
    struct Port {
        Guid node = 0;
        int number = 0;
    };

    std::size_t below(std::size_t n) { return random_() % n; }
    topo::RawNode& node(Guid guid) { return raw_.nodes[index_.at(guid)]; }
    topo::RawPort* port(const Port& at);
    void drop(Guid guid);                   // the node, if it is there, and the other ends of its cables
    void cut(const Port& a, const Port& b); // the cable between them
    void join(const Port& a, const Port& b, topo::Rate rate);
    void connect(Guid a, Guid b);                // two switches, by a cable more
    void exchange(const Port& a, const Port& b); // what their cables lead to
    void rate(const Port& a, const Port& b, bool narrow);
    int free_port(Guid node);
    void describe(Guid hca, std::string text) {
        if (index_.contains(hca)) node(hca).description = std::move(text);
    }

    int next_host(std::size_t rails, int unit = topo::none);
    int next_leaf();
    int core(); // any; none without cores
    bool carries_hosts(int leaf) const;
    bool is_below(int host, int leaf) const;
    bool numbered_through(std::size_t unit) const;
    bool unused_below(int leaf) const; // no fault is planted into a host there
    std::vector<const topo::Link*> uplinks(int leaf) const;
    const topo::Link& link(int host, int hca, std::size_t port = 0) const;
    Port host_end(const topo::Link& link) const;
    Port switch_end(const topo::Link& link) const;
    Port end(const topo::End& end) const;
    std::string place(int host, int hca) const;
    bool cabled(const topo::Hca& hca) const; // its first port, to a leaf that is there
    std::vector<int> rails(int host) const;  // HCAs that are compute and cabled
    int storage(int host) const;             // an HCA that is storage and cabled

    bool one_cable(std::string_view what, Planted& planted);
    bool two_cables(std::string_view what, Planted& planted);
    bool uplink(std::string_view what, Planted& planted);
    bool whole_switch(std::string_view what, Planted& planted);
    bool whole_unit(std::string_view what, Planted& planted);
    bool name(std::string_view what, Planted& planted);
    bool storage(std::string_view what, Planted& planted);

    topo::RawFabric raw_;
    topo::Fabric sound_;
    std::unordered_map<Guid, std::size_t> index_;
    std::mt19937 random_;
    std::vector<int> hosts_, leaves_; // not yet used
    std::set<int> spines_;            // used
    std::vector<Planted> planted_;
};

} // namespace faults
