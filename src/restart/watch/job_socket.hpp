// The Unix stream socket through which jobs talk to nodewatchd (protocol: job_session.hpp).
//
// Every user may connect (mode 0666); the peer's identity comes from the kernel (SO_PEERCRED), never from the
// message. The polling thread serves all clients and never blocks on one: a client that does not read its
// answers, sends endless lines or too many invalid ones is disconnected; connections are limited per user.
#pragma once

#include "base/expected.hpp"
#include "base/unique_fd.hpp"
#include "restart/watch/job_book.hpp"
#include "restart/watch/served.hpp"
#include "restart/watch/ucx_book.hpp"
#include "restart/watch/ucx_port.hpp"

#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <memory>

namespace restart {

class JobSocket : public Served {
public:
    static constexpr std::size_t most_clients = 4096;
    static constexpr std::size_t most_clients_a_uid = 1024;

    // Listens at `path`. A stale socket file is replaced; a missing last directory is created (mode 0755).
    // `on_news` is called by serve() when there is something to report to restartd soon. Errors:
    // Code::unavailable when another server answers there; Code::io with the path and the reason; Code::input
    // for a path that is too long for a socket.
    static base::Expected<std::unique_ptr<JobSocket>> open(const std::filesystem::path& path, JobBook& book,
                                                           UcxBook& ucx, std::function<void()> on_news);
    ~JobSocket() override; // disconnects all clients and removes the file

    Clock::time_point watch(std::vector<pollfd>& into) override;
    void serve(std::span<const pollfd> watched) override;

private:
    struct Client;
    JobSocket(std::filesystem::path path, base::UniqueFd listener, JobBook& book, UcxBook& ucx,
              std::function<void()> on_news);
    void admit(base::UniqueFd fd);

    std::filesystem::path path_;
    base::UniqueFd listener_;
    JobBook& book_;
    UcxBook& ucx_;
    std::function<void()> on_news_;
    std::list<Client> clients_;
    std::map<std::uint32_t, std::size_t> of_uid_; // clients
    std::vector<UcxPort*> ports_;                 // polled now
    bool accepting_ = true;
};

} // namespace restart
