// One host of a large fabric.json, for who needs no more: the agent of that host, a task that starts there.
#pragma once

#include "base/expected.hpp"
#include "topo/fabric.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace topo {

struct Excerpt {
    Fabric fabric; // of that host alone, its links and the switches at their other ends, derived; no host
                   // at all when the file does not know the name
    std::string digest; // of the whole file: 16 hexadecimal digits, equal where files are
};

// The rest of the text is skipped without being parsed, so that errors there are not found; what is taken is
// checked as parse_fabric() does, with the same errors. A text whose brackets and strings do not close is an
// error too (Code::input), and so is an element of more than 4 MiB. The file is read in blocks, twice at
// most: memory is a few hundred KiB whatever its size. Code::io: it cannot be read, or was overwritten
// meanwhile.
base::Expected<Excerpt> parse_excerpt(std::string_view text, std::string_view host, std::string_view name);
base::Expected<Excerpt> read_excerpt(const std::filesystem::path& path, std::string_view host);

// The same, kept in `folder` as fabric-HOST until the file changes: a large fabric lies on storage that all
// hosts share, and each would read it whole at each step and each start of its agent. Nothing is kept where
// the folder is not private (base::private_folder), is "", or the host's name is no name of a file. Those who
// keep it at the same time write the same.
base::Expected<Excerpt> kept_excerpt(const std::filesystem::path& path, const std::string& host,
                                     const std::string& folder);

} // namespace topo
