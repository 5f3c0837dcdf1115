#include "restart/watch/listing_file.hpp"

#include "base/file.hpp"
#include "base/log.hpp"
#include "topo/export/tree.hpp"
#include "topo/guid.hpp"
#include "topo/names.hpp"

#include <fmt/format.h>

#include <mutex>

namespace restart {
namespace {

using namespace std::chrono_literals;

constexpr base::Duration look_again = 30s;
constexpr std::size_t longest_device = 58; // leaves room for the port in the component name

std::string component_in_listing(const topo::Hca& hca, const topo::HcaPort& port) {
    const bool named = topo::exports::safe_name(hca.device) && hca.device.size() <= longest_device;
    return fmt::format("{}:{}", named ? hca.device : topo::format_guid(hca.guid), port.number);
}

} // namespace

Listing list_ports(const topo::Excerpt& excerpt, std::string_view host, std::string_view path) {
    Listing listing;
    listing.digest = excerpt.digest;
    if (excerpt.fabric.hosts.empty()) {
        listing.why_not = fmt::format("{} does not know {}: its ports cannot be missed", path, host);
        return listing;
    }
    for (const auto& gpu : excerpt.fabric.hosts.front().gpus)
        listing.gpus.push_back(gpu.pci);
    const auto& hcas = excerpt.fabric.hosts.front().hcas;
    std::size_t unknown = 0;
    for (const auto& hca : hcas) {
        if (!topo::is_devices(hca.guid)) {
            ++unknown;
            continue;
        }
        for (const auto& port : hca.ports)
            listing.ports.push_back(
                {hca.guid, port.guid, port.number, port.link != topo::none, component_in_listing(hca, port)});
    }
    if (unknown > 0)
        listing.why_not =
            fmt::format("{} tells no GUID of {} of its {}: {} cannot be missed", path,
                        unknown == hcas.size() ? "any" : fmt::format("{}", unknown),
                        topo::counted(hcas.size(), "HCA", "HCAs"), unknown == 1 ? "it" : "they");
    return listing;
}

struct ListingFile::State {
    std::string host, folder;
    mutable std::mutex mutex; // of the members below
    std::string path;
    bool asked = true;
    std::optional<Listing> listing;
    base::FileStamp read; // used by the task only

    TaskLoop::Clock::time_point look() {
        std::unique_lock lock(mutex);
        const auto from = path;
        const bool at_once = std::exchange(asked, false);
        lock.unlock();
        const auto stamp = base::stamp_of(from);
        if (at_once || stamp != read) {
            auto excerpt = topo::kept_excerpt(from, host, folder);
            lock.lock();
            take(excerpt ? list_ports(*excerpt, host, from) : failed(excerpt.error().text));
            read = stamp;
        }
        return next_beat(look_again);
    }

    // Requires the lock.
    Listing failed(const std::string& why) const {
        Listing former = listing.value_or(Listing{});
        former.why_not = why;
        return former;
    }
    void take(Listing fresh) {
        if (listing && listing->digest != fresh.digest)
            base::log::info("fabric file read again: {} ports of this host", fresh.ports.size());
        listing = std::move(fresh);
    }
};

ListingFile::ListingFile(TaskLoop& loop, std::string path, std::string host, std::string folder)
    : state_(std::make_shared<State>()) {
    state_->host = std::move(host);
    state_->folder = std::move(folder);
    state_->path = std::move(path);
    task_ = loop.add([state = state_] { return state->look(); });
}

void ListingFile::look(std::string path) {
    {
        const std::lock_guard lock(state_->mutex);
        state_->path = std::move(path);
        state_->asked = true;
    }
    task_.now();
}

std::optional<Listing> ListingFile::listing() const {
    const std::lock_guard lock(state_->mutex);
    return state_->listing;
}

} // namespace restart
