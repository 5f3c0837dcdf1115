// Asks this host, munged, slurmctld or LSF, and restartd what the doctor judges. Each is asked once and has
// its time; one that does not answer is a fact like any other. Changes nothing.
#pragma once

#include "restart/ctl/doctor/facts.hpp"

#include <map>
#include <string>
#include <string_view>

namespace restart::doctor {

struct Ask {
    std::string config; // --config
    std::string url;    // --url
};

Facts gather(const Ask& ask);

// `scontrol show config`, by key. Lines of another form are passed over.
std::map<std::string, std::string> parse_config(std::string_view text);
// The plugstack.conf that this configuration names; Slurm's usual one where it names none.
std::string named_plugstack(const std::map<std::string, std::string>& slurm);

// The release in what `scontrol --version` prints ("slurm 22.05.8"); empty: none is there.
std::string release_in(std::string_view text);

} // namespace restart::doctor
