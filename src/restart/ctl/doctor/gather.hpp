// Collects from this host, munged, slurmctld or LSF, and restartd what the doctor evaluates. Each is asked
// once with a time limit; no answer is a fact like any other. Changes nothing.
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

// `scontrol show config`, by key. Lines of another form are skipped.
std::map<std::string, std::string> parse_config(std::string_view text);
// The plugstack.conf that this configuration names, or else Slurm's default.
std::string named_plugstack(const std::map<std::string, std::string>& slurm);

// The release in what `scontrol --version` prints ("slurm 22.05.8"); empty: none.
std::string release_in(std::string_view text);

} // namespace restart::doctor
