#include "restart/run/checkpoints.hpp"

#include "base/ckpt_kind.hpp"
#include "restart/ckpt/fence.hpp"
#include "restart/ckpt/name.hpp"
#include "restart/ckpt/published.hpp"

namespace restart::run {

namespace {

// Whether the program itself keeps the checkpoints there: then we write nothing next to them.
bool is_of_another(const std::optional<std::string>& text) {
    const auto kind = base::parse_ckpt_kind(text.value_or(""));
    return kind && kind->known != base::CkptLayout::automatic && kind->known != base::CkptLayout::railckpt;
}

} // namespace

Checkpoints::Checkpoints(const Lookup& get)
    : options_(ckpt::resolve({},
                             [&](const char* name) -> const char* {
                                 static thread_local std::string value;
                                 const auto found = get(name);
                                 if (!found) return nullptr;
                                 value = *found;
                                 return value.c_str();
                             })),
      wanted_(!get("RAIL_CKPT_DIR").value_or("").empty() && !is_of_another(get("RAIL_CKPT_KIND"))) {}

base::Expected<std::string> Checkpoints::claim() {
    if (!wanted_) return std::string();
    if (!options_) return options_.error();
    ckpt::Claimant railrun{options_->job, options_->restart, options_->cluster, options_->take_over};
    railrun.next_launch = true;
    railrun.lsf = options_->lsf;
    const auto fence = ckpt::Fence::raise(options_->dir, railrun);
    if (!fence) return fence.error();
    return ckpt::launch_text(options_->job, options_->restart, fence->epoch());
}

std::optional<std::pair<std::uint32_t, std::uint64_t>> Checkpoints::newest() const {
    if (!wanted_ || !options_) return {};
    const auto published = ckpt::list_published(options_->dir);
    if (!published || published->empty()) return {};
    return std::pair(published->front().epoch, published->front().step);
}

std::optional<std::filesystem::path> Checkpoints::newest_path() const {
    const auto id = newest();
    if (!id) return {};
    return std::filesystem::path(options_->dir) /
           ckpt::to_name(ckpt::published_prefix, ckpt::Id{id->first, id->second});
}

} // namespace restart::run
