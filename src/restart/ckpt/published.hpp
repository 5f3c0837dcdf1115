// The reading side of a checkpoint directory: which committed checkpoints are there, and are they whole?
//
// Entries are judged by their manifest alone; nothing is remembered between calls. Other processes may
// publish and prune meanwhile: what vanishes while it is looked at is passed over.
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

// How hard to look: the manifest and the sizes of files, or also every byte of them.
enum class Depth { sizes, checksums };

// The ids of all entries named like a checkpoint, newest first. Errors: Code::io.
base::Expected<std::vector<Id>> list_published(const std::filesystem::path& dir);

// One checkpoint, if it is whole. Errors name it and the file: Code::input for damage (no or a torn manifest,
// a missing, cut, longer or changed file, a symbolic link anywhere), Code::io.
base::Expected<Published> load_published(const std::filesystem::path& dir, const Id& id, Depth depth);

// Which one a job goes on from. newest: the highest step of the highest epoch, which is the line the job is
// on, also when it was sent back to an earlier step by hand. furthest: the highest step of all, then epoch.
enum class Wanted { newest, furthest };

struct Latest {
    std::optional<Published> newest;
    std::vector<std::string> skipped; // why each one before it was passed over
    std::set<Id> damaged;             // the ids of those that are damaged; the others could not be read
    std::vector<Published> ahead;     // whole ones (sizes) with more steps than it, furthest first
};

// The wanted whole one; at most `depth` deep. Errors: Code::io when the directory cannot be read, or one in
// it cannot and none is whole.
base::Expected<Latest> find_latest(const std::filesystem::path& dir, Depth depth,
                                   Wanted wanted = Wanted::newest);

// What is to be said loudly when `latest` leaves progress behind: a job that failed to resume looks just like
// one that was begun again on purpose. "" when nothing is ahead.
std::string ahead_sentence(const Latest& latest);

// Removes a tree below `dir`, never following links. False: something is left.
bool remove_tree(const std::filesystem::path& path);

} // namespace restart::ckpt
