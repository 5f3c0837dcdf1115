// railckpt's commands on a directory whose checkpoints another program keeps (kinds/look.hpp).
#pragma once

#include "base/json.hpp"
#include "restart/ckpt/kinds/look.hpp"

#include <string>

namespace restart::ckpt {

// `text` of --kind, else RAIL_CKPT_KIND, else auto. Error: Code::usage.
base::Expected<kinds::Kind> kind_given(const std::string& text);

// The directory's path from the root, without links where it is there.
std::string absolute(const std::string& dir);

// What is there, of the kind. A directory that is auto's and holds railckpt's own, nothing or nothing known
// has no newest one. Errors: kinds::look's.
base::Expected<kinds::Found> look_at(const std::string& dir, const kinds::Kind& kind);

// Whether another program keeps these checkpoints, as far as is known.
bool is_foreign(const kinds::Kind& kind);

// When this start of the job began, by SLURM_JOB_START_TIME; else now.
base::Time start_of_job(base::Time now);

boost::json::object whole_to_json(const kinds::Whole& whole, const kinds::Kind& kind,
                                  const std::string& path);

} // namespace restart::ckpt
