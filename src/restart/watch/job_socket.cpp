#include "restart/watch/job_socket.hpp"

#include "restart/watch/job_session.hpp"
#include "restart/watch/unix_listener.hpp"

#include <array>
#include <cerrno>
#include <list>
#include <map>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

namespace restart {
namespace {

constexpr std::size_t most_unread = 64 * 1024; // answers a client may leave unread, bytes

struct Client {
    base::UniqueFd fd;
    std::uint32_t uid;
    JobSession session;
    std::string in, out;
    bool gone = false;
};

// As much of `out` as the client takes now.
void flush(Client& client) {
    while (!client.out.empty()) {
        const auto n =
            ::send(client.fd.get(), client.out.data(), client.out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0) {
            client.out.erase(0, static_cast<std::size_t>(n));
        } else if (!(n < 0 && errno == EINTR)) {
            if (n < 0 && errno != EAGAIN) client.gone = true;
            break;
        }
    }
    if (client.out.size() > most_unread) client.gone = true;
}

// What the client has sent, a bounded part of it, so that no client occupies the thread.
void receive(Client& client) {
    std::array<char, 16384> block;
    const auto n = ::recv(client.fd.get(), block.data(), block.size(), MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        client.gone = true;
        return;
    }
    if (n < 0) return;
    client.in.append(block.data(), static_cast<std::size_t>(n));
    std::size_t begin = 0;
    for (std::size_t end; (end = client.in.find('\n', begin)) != std::string::npos; begin = end + 1) {
        const auto line = std::string_view(client.in).substr(begin, end - begin);
        if (line.size() > longest_job_line) {
            client.gone = true;
            return;
        }
        client.out += client.session.answer(line, base::now());
        if (client.session.hopeless()) {
            flush(client);
            client.gone = true;
            return;
        }
    }
    client.in.erase(0, begin);
    if (client.in.size() > longest_job_line) client.gone = true;
    flush(client);
}

} // namespace

base::Expected<std::unique_ptr<JobSocket>> JobSocket::open(const std::filesystem::path& path, JobBook& book,
                                                           UcxBook& ucx, std::function<void()> on_news) {
    auto listener = listen_unix(path, "[agent] job_socket", 512);
    if (!listener) return std::move(listener).error();
    auto stop = base::UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!stop) return base::system_error("eventfd", errno);
    return std::unique_ptr<JobSocket>(
        new JobSocket(path, *std::move(listener), std::move(stop), book, ucx, std::move(on_news)));
}

JobSocket::JobSocket(std::filesystem::path path, base::UniqueFd listener, base::UniqueFd stop, JobBook& book,
                     UcxBook& ucx, std::function<void()> on_news)
    : path_(std::move(path)), listener_(std::move(listener)), stop_(std::move(stop)), book_(book), ucx_(ucx),
      on_news_(std::move(on_news)), thread_([this] { serve(); }) {}

JobSocket::~JobSocket() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto n = ::write(stop_.get(), &one, sizeof one);
    thread_.join();
    ::unlink(path_.c_str());
}

void JobSocket::serve() {
    std::list<Client> clients;
    std::map<std::uint32_t, std::size_t> of_uid;

    const auto admit = [&](base::UniqueFd fd) {
        ucred peer{};
        socklen_t size = sizeof peer;
        if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return;
        if (clients.size() >= most_clients || of_uid[peer.uid] >= most_clients_a_uid) {
            constexpr std::string_view full = "{\"ok\":false,\"error\":\"too many connections\"}\n";
            ::send(fd.get(), full.data(), full.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            return;
        }
        ++of_uid[peer.uid];
        clients.push_back({std::move(fd), peer.uid, JobSession(book_, ucx_, peer.uid), {}, {}});
    };

    std::vector<pollfd> watched;
    for (bool accepting = true;;) {
        watched.assign({{stop_.get(), POLLIN, 0}, {accepting ? listener_.get() : -1, POLLIN, 0}});
        for (const auto& client : clients)
            watched.push_back(
                {client.fd.get(), static_cast<short>(client.out.empty() ? POLLIN : POLLIN | POLLOUT), 0});
        std::vector<UcxPort*> ports;
        for (const auto& client : clients)
            if (auto* port = client.session.statistics()) {
                ports.push_back(port);
                watched.push_back({port->fd(), POLLIN, 0});
            }
        // Out of descriptors, the listener would be ready all the time: do not poll it for a moment.
        if (::poll(watched.data(), watched.size(), accepting ? -1 : 200) < 0 && errno != EINTR) return;
        accepting = true;
        if (watched[0].revents != 0) return;

        for (std::size_t n = 0; n < ports.size(); ++n)
            if (watched[2 + clients.size() + n].revents != 0) ports[n]->receive(base::now());

        bool news = false;
        std::size_t i = 2;
        for (auto client = clients.begin(); client != clients.end(); ++i) {
            const auto events = watched[i].revents;
            if ((events & POLLOUT) != 0) flush(*client);
            if ((events & (POLLIN | POLLHUP | POLLERR)) != 0 && !client->gone) receive(*client);
            news = client->session.news() || news;
            if (client->gone) {
                if (--of_uid[client->uid] == 0) of_uid.erase(client->uid);
                client = clients.erase(client);
            } else {
                ++client;
            }
        }
        if ((watched[1].revents & POLLIN) != 0) {
            for (int taken = 0; taken < 64; ++taken) {
                base::UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
                if (!fd) {
                    accepting = errno != EMFILE && errno != ENFILE && errno != ENOMEM && errno != ENOBUFS;
                    break;
                }
                admit(std::move(fd));
            }
        }
        if (news && on_news_) on_news_();
    }
}

} // namespace restart
