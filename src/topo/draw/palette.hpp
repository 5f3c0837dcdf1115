// Colours, hatches and classes of a picture. Internal to src/topo/draw.
#pragma once

#include <cstddef>
#include <string>

namespace topo::draw {

// The <style> and <defs> of a picture with `jobs` jobs.
std::string style_sheet(std::size_t jobs);
std::string patterns(std::size_t jobs);

// The class that fills an area for a job: colours and hatches rotate, and 35 jobs differ in at least one.
std::string job_class(std::size_t job); // "j3"

} // namespace topo::draw
