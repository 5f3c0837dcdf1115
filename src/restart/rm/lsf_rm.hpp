// LSF through its commands, which must be run as LSF's administrator (railyard-lsf(7)).
#pragma once

#include "base/conf.hpp"
#include "restart/rm/rm.hpp"

#include <memory>

namespace restart {

std::unique_ptr<ResourceManager> make_lsf_rm(const base::LsfConf& conf);

} // namespace restart
