// The reading side of a checkpoint directory: finds committed checkpoints and verifies them.
//
// Entries are judged by their manifest alone; no state is kept between calls. Other processes may publish and
// prune concurrently: entries that vanish during a look are skipped.
#pragma once

#include "base/expected.hpp"
#include "restart/ckpt/manifest.hpp"

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace restart::ckpt {

struct Published {
    std::filesystem::path path; // DIR/ckpt-…
    Manifest manifest;
};

// How thorough: the manifest and the sizes of files, or also every byte of them.
enum class Depth { sizes, checksums };

// The ids of all entries with a checkpoint's name, newest first. Errors: Code::io.
base::Expected<std::vector<Id>> list_published(const std::filesystem::path& dir);

// One checkpoint, if it is complete. Errors name it and the file: Code::input for damage (a missing or torn
// manifest, a missing, truncated, longer or changed file, a symbolic link anywhere), Code::io.
base::Expected<Published> load_published(const std::filesystem::path& dir, const Id& id, Depth depth);

// Which one to resume from. newest: the highest step of the highest epoch, the job's current line, also after
// a manual return to an earlier step. furthest: the highest step of all, then epoch.
enum class Wanted { newest, furthest };

struct Latest {
    std::optional<Published> newest;
    std::vector<std::string> skipped; // why each better one was skipped
    std::set<Id> damaged;             // ids of damaged ones; the others could not be read
    std::vector<Published> ahead;     // complete (sizes) with more steps than it, furthest first
};

// The requested complete one, verified at `depth`. Errors: Code::io when the directory cannot be read, or
// when one in it cannot be read and none is complete.
base::Expected<Latest> find_latest(const std::filesystem::path& dir, Depth depth,
                                   Wanted wanted = Wanted::newest);

// The warning to print if `latest` leaves progress behind: a job that failed to resume looks just like one
// that was deliberately restarted from the beginning. "" if nothing is ahead.
std::string ahead_sentence(const Latest& latest);

// Removes a tree below `dir`, never following links. False: part of it is left.
bool remove_tree(const std::filesystem::path& path);

} // namespace restart::ckpt
