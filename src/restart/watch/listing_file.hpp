// This host's part of the fabric file, read in a separate task: the file may be on storage that hangs.
#pragma once

#include "restart/watch/sample.hpp"
#include "restart/watch/task_loop.hpp"
#include "topo/excerpt.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace restart {

// The ports of the excerpt's host, `host`. Pure; `path` is used in messages.
Listing list_ports(const topo::Excerpt& excerpt, std::string_view host, std::string_view path);

class ListingFile {
public:
    // Reads this host's part of the file, and again when the file has changed: checked every 30 s. A copy is
    // kept in `folder` (topo::kept_excerpt).
    ListingFile(TaskLoop& loop, std::string path, std::string host, std::string folder);

    // Reads this path now, and watches it from now on.
    void look(std::string path);

    // The last result; nullopt before the first. When the file can no longer be read the previous listing
    // stays valid, and `why_not` says so.
    std::optional<Listing> listing() const;

private:
    struct State;
    std::shared_ptr<State> state_; // shared with the task, which may outlive us
    TaskLoop::Task task_;
};

} // namespace restart
