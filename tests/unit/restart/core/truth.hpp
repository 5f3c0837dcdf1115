// What is really the case in a simulated cluster, as opposed to what is reported of it: power, kernels, the
// management network, the fabric, clocks; and what restartd hears of that, late, twice or out of order. Tests
// compare what was done with what was the case.
#pragma once

#include "world.hpp"

#include <map>
#include <random>
#include <string>
#include <vector>

class Truth {
public:
    // Hosts in units of 8, with as many jobs as fit on two thirds of them, of 1 to 8 hosts each, all of which
    // may be restarted and save every minute.
    Truth(std::size_t hosts, unsigned seed);
    Truth(const Truth&) = delete;
    Truth& operator=(const Truth&) = delete;

    struct Host {
        bool power = true;
        bool hung = false;    // its links stay up, nothing runs
        bool cut = false;     // from the management network: neither reports nor pings
        bool ctl_cut = false; // from restartd and the resource manager alone: other hosts reach it
        bool blind = false;   // it reaches no other host, and is heard
        bool lies = false;    // about others
        bool dark = false;    // its fabric links are all down
        bool agent = true;    // nodewatchd runs
        bool broken = false;  // a finding holds
        unsigned fault = 0;   // how many faults it has had: what is done belongs to the last
        base::Time since{};   // of the last change
        base::Time cut_at{};  // when it was last cut off
        base::Time unheard{}; // by the resource manager, since
        bool heard = true;    // by it
        bool booting = false; // until then
        base::Time boots_at{};
        bool works() const { return power && !hung && !booting; }
    };

    World world;
    std::mt19937 random;
    std::map<std::string, Host> hosts;
    std::vector<base::JobId> jobs;

    bool fabricwatchd = true;         // sweeps arrive, every 5 s
    bool restartd_cut = false;        // no report arrives at all
    base::Duration gives_up{300'000}; // after so long without an answer the resource manager sets a host down
    unsigned most_delay_ms = 0;       // of reports
    bool duplicates = false;

    unsigned roll(unsigned below) { return static_cast<unsigned>(random() % below); }
    const std::string& any_host();
    // A host that a running job is on; empty: none.
    std::string host_in_use();
    base::JobId job_on(const std::string& host) const; // JobId() when there is none
    bool runs_without(base::JobId job, const std::string& host);

    void power_off(const std::string& host);
    void hang(const std::string& host);
    void cut(const std::vector<std::string>& list);
    void cut_from_ctl(const std::string& host);
    void darken(const std::string& host);
    void kill_agent(const std::string& host);
    void breaks(const std::string& host, restart::Severity severity);
    // All is well again; a person puts back into use what was taken out of it.
    void mend(const std::string& host);
    void mend_all();

    void run(double seconds);

    // How many others were cut off from the management network with it.
    std::size_t cut_with(const std::string& host) const;
    base::Knocked seen_by(const std::string& peer, const std::string& host); // what it says that it sees
    bool peers_save = false; // no host is set down that other hosts reach

    // What was done to a host that works and whose fault is only the network's, and to jobs twice: sentences.
    std::vector<std::string> wrongs;

private:
    void look_at(const restart::Action& action);
    void look_at_repair(const restart::RepairHost& repair);
    void follow(const std::string& name, Host& host);
    void sweep();
    void deliver_due();
    void save();

    std::multimap<base::Time, restart::Report> under_way_;
    std::map<std::string, unsigned> requeued_; // by job, host and fault
    base::Time swept_{}, saved_{};
};
