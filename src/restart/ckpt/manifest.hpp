// MANIFEST.json: the content of a committed checkpoint.
//
//   {"v": 1, "step": 400, "epoch": 1, "job": 12, "time": 1700000001.5, "cost_s": 0.8,
//    "files": [{"name": "rank-0.bin", "bytes": 4096, "xxh3_128": "…"}],
//    "manifest_xxh3_128": "…"}
//
// The last line is the checksum (digest.hpp) of all bytes before it, and its form is fixed to the byte: a
// manifest that was cut anywhere, or in which a bit flipped, is invalid. The checksum covers the bytes, not
// the values: numbers may change when parsed and printed again.
#pragma once

#include "base/expected.hpp"
#include "restart/ckpt/name.hpp"
#include "restart/ckpt/work.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace restart::ckpt {

struct ManifestFile {
    std::string name; // relative, see check_file_name
    std::uint64_t bytes = 0;
    std::string xxh3_128;
    bool operator==(const ManifestFile&) const = default;
};

struct Manifest {
    Id id;
    Work job{};
    double time_s = 0; // of the commit, seconds since 1970
    double cost_s = 0; // time that the job was stopped, up to the writing of the manifest; seconds
    std::vector<ManifestFile> files; // by name
    std::uint64_t bytes() const;     // of all files
    bool operator==(const Manifest&) const = default;
};

std::string to_text(const Manifest& manifest);

// Errors (Code::input) name the field or line. Besides damage, it rejects: another version, names that lead
// out of the directory, duplicate names.
base::Expected<Manifest> parse_manifest(std::string_view text);

} // namespace restart::ckpt
