// One host of a large fabric.json, for who needs no more: a task that starts on that host.
#pragma once

#include "base/expected.hpp"
#include "topo/fabric.hpp"

#include <filesystem>
#include <string_view>

namespace topo {

// A fabric of that host alone, its links and the switches at their other ends, derived; no host at all when
// the file does not know the name. The rest of the text is passed over without being understood, so that
// what is wrong there is not found; what is taken is checked as parse_fabric() does, with the same errors.
// A text whose brackets and strings do not close is an error too (Code::input). Memory is little beyond the
// text's own size.
base::Expected<Fabric> parse_excerpt(std::string_view text, std::string_view host, std::string_view name);
base::Expected<Fabric> read_excerpt(const std::filesystem::path& path, std::string_view host);

} // namespace topo
