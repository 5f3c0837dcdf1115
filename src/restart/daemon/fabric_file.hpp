// The fabric file as restartd uses it: the units of hosts, and what placements are explained on. For one
// thread.
#pragma once

#include "base/expected.hpp"
#include "base/file.hpp"
#include "restart/core/facts/event.hpp"
#include "sched/placing.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace restart {

class FabricFile {
public:
    struct Loaded {
        FabricLoaded places;
        std::shared_ptr<const sched::Placing> placing;
        std::shared_ptr<const std::string> map; // for the web page (web/fabric_map.hpp)
    };
    // How many hosts to keep free for restarts, out of this number (sched/ask/spare_floor.hpp).
    using Spares = std::function<std::uint32_t(std::uint32_t hosts)>;

    // The content of the file, if it is another file than at the last look or has changed since; else none.
    // Errors: it cannot be read, returned once for each change of it.
    base::Expected<std::optional<Loaded>> look(const std::filesystem::path& path, const Spares& spares);

    // The next look reads it in any case.
    void forget();

private:
    std::filesystem::path path_;
    std::optional<base::FileStamp> seen_;
};

} // namespace restart
