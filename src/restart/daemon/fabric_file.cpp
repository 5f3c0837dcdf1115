#include "restart/daemon/fabric_file.hpp"

#include "base/log.hpp"
#include "topo/fabric_json.hpp"

namespace restart {

base::Expected<std::optional<FabricFile::Loaded>> FabricFile::look(const std::filesystem::path& path,
                                                                   const Spares& spares) {
    const std::lock_guard lock(mutex_);
    if (path != std::exchange(path_, path)) seen_.reset();
    if (path.empty()) return std::optional<Loaded>();
    const auto stamp = base::stamp_of(path);
    if (seen_ == stamp) return std::optional<Loaded>();
    seen_ = stamp;
    auto fabric = topo::read_fabric(path);
    if (!fabric) return std::move(fabric).error();
    Loaded loaded;
    for (const auto& host : fabric->hosts)
        loaded.units.units[host.name] =
            host.unit == topo::none ? std::string() : fabric->units[static_cast<std::size_t>(host.unit)].name;
    base::log::info("{}: {} hosts in {} units", path.string(), fabric->hosts.size(), fabric->units.size());
    const auto floor = spares(static_cast<std::uint32_t>(fabric->hosts.size()));
    loaded.placing = std::make_shared<const sched::Placing>(*std::move(fabric), floor);
    return std::optional<Loaded>(std::move(loaded));
}

void FabricFile::forget() {
    const std::lock_guard lock(mutex_);
    seen_.reset();
}

} // namespace restart
