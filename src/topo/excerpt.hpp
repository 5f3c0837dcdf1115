// One host of a large fabric.json, for readers that need no more: that host's agent, a task that starts
// there.
#pragma once

#include "base/expected.hpp"
#include "topo/fabric.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace topo {

struct Excerpt {
    Fabric fabric; // only that host, its links and the switches at their other ends, derived; no host if the
                   // file does not contain the name
    std::string digest; // of the whole file: 16 hexadecimal digits, equal if the files are equal
};

// The rest of the text is skipped without being parsed, so errors there are not found; what is used is
// checked as in parse_fabric(), with the same errors. Unclosed brackets or strings are also an error
// (Code::input), and so is an element of more than 4 MiB. The file is read in blocks, at most twice: memory
// is a few hundred KiB whatever its size. Code::io: it cannot be read, or was overwritten in the meantime.
base::Expected<Excerpt> parse_excerpt(std::string_view text, std::string_view host, std::string_view name);
base::Expected<Excerpt> read_excerpt(const std::filesystem::path& path, std::string_view host);

// The same, stored in `folder` as fabric-HOST until the file changes: a large fabric is on storage shared by
// all hosts, and each would read all of it at each step and each start of its agent. Nothing is stored if the
// folder is not private (base::private_folder), is "", or the host's name cannot be a file name. Processes
// that store it at the same time write the same content.
base::Expected<Excerpt> kept_excerpt(const std::filesystem::path& path, const std::string& host,
                                     const std::string& folder);

} // namespace topo
