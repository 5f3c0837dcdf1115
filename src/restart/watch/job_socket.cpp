#include "restart/watch/job_socket.hpp"

#include "restart/watch/job_session.hpp"
#include "restart/watch/unix_listener.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <sys/socket.h>

namespace restart {
namespace {

constexpr std::size_t most_unread = 64 * 1024; // answers a client may leave unread, bytes

} // namespace

struct JobSocket::Client {
    base::UniqueFd fd;
    std::uint32_t uid;
    JobSession session;
    std::string in, out;
    bool gone = false;

    void flush();
    void receive();
};

// Sends as much of `out` as the client accepts now.
void JobSocket::Client::flush() {
    while (!out.empty()) {
        const auto n = ::send(fd.get(), out.data(), out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0) {
            out.erase(0, static_cast<std::size_t>(n));
        } else if (!(n < 0 && errno == EINTR)) {
            if (n < 0 && errno != EAGAIN) gone = true;
            break;
        }
    }
    if (out.size() > most_unread) gone = true;
}

// Reads what the client has sent, up to a limit, so that no client occupies the thread.
void JobSocket::Client::receive() {
    std::array<char, 16384> block;
    const auto n = ::recv(fd.get(), block.data(), block.size(), MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        gone = true;
        return;
    }
    if (n < 0) return;
    in.append(block.data(), static_cast<std::size_t>(n));
    std::size_t begin = 0;
    for (std::size_t end; (end = in.find('\n', begin)) != std::string::npos; begin = end + 1) {
        const auto line = std::string_view(in).substr(begin, end - begin);
        if (line.size() > longest_job_line) {
            gone = true;
            return;
        }
        out += session.answer(line, base::now());
        if (session.hopeless()) {
            flush();
            gone = true;
            return;
        }
    }
    in.erase(0, begin);
    if (in.size() > longest_job_line) gone = true;
    flush();
}

base::Expected<std::unique_ptr<JobSocket>> JobSocket::open(const std::filesystem::path& path, JobBook& book,
                                                           UcxBook& ucx, std::function<void()> on_news) {
    auto listener = listen_unix(path, "[agent] job_socket", 512);
    if (!listener) return std::move(listener).error();
    return std::unique_ptr<JobSocket>(
        new JobSocket(path, *std::move(listener), book, ucx, std::move(on_news)));
}

JobSocket::JobSocket(std::filesystem::path path, base::UniqueFd listener, JobBook& book, UcxBook& ucx,
                     std::function<void()> on_news)
    : path_(std::move(path)), listener_(std::move(listener)), book_(book), ucx_(ucx),
      on_news_(std::move(on_news)) {}

JobSocket::~JobSocket() {
    ::unlink(path_.c_str());
}

void JobSocket::admit(base::UniqueFd fd) {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return;
    if (clients_.size() >= most_clients || of_uid_[peer.uid] >= most_clients_a_uid) {
        constexpr std::string_view full = "{\"ok\":false,\"error\":\"too many connections\"}\n";
        ::send(fd.get(), full.data(), full.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        return;
    }
    ++of_uid_[peer.uid];
    clients_.push_back({std::move(fd), peer.uid, JobSession(book_, ucx_, peer.uid), {}, {}});
}

JobSocket::Clock::time_point JobSocket::watch(std::vector<pollfd>& into) {
    into.push_back({accepting_ ? listener_.get() : -1, POLLIN, 0});
    for (const auto& client : clients_)
        into.push_back(
            {client.fd.get(), static_cast<short>(client.out.empty() ? POLLIN : POLLIN | POLLOUT), 0});
    ports_.clear();
    for (const auto& client : clients_)
        if (auto* port = client.session.statistics()) {
            ports_.push_back(port);
            into.push_back({port->fd(), POLLIN, 0});
        }
    // Without free descriptors the listener would be ready all the time: do not poll it for a moment.
    return accepting_ ? Clock::time_point::max() : Clock::now() + std::chrono::milliseconds(200);
}

void JobSocket::serve(std::span<const pollfd> watched) {
    accepting_ = true;
    for (std::size_t n = 0; n < ports_.size(); ++n)
        if (watched[1 + clients_.size() + n].revents != 0) ports_[n]->receive(base::now());

    bool news = false;
    std::size_t i = 1;
    for (auto client = clients_.begin(); client != clients_.end(); ++i) {
        const auto events = watched[i].revents;
        if ((events & POLLOUT) != 0) client->flush();
        if ((events & (POLLIN | POLLHUP | POLLERR)) != 0 && !client->gone) client->receive();
        news = client->session.news() || news;
        if (client->gone) {
            if (--of_uid_[client->uid] == 0) of_uid_.erase(client->uid);
            client = clients_.erase(client);
        } else {
            ++client;
        }
    }
    if ((watched[0].revents & POLLIN) != 0) {
        for (int taken = 0; taken < 64; ++taken) {
            base::UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
            if (!fd) {
                accepting_ = errno != EMFILE && errno != ENFILE && errno != ENOMEM && errno != ENOBUFS;
                break;
            }
            admit(std::move(fd));
        }
    }
    if (news && on_news_) on_news_();
}

} // namespace restart
