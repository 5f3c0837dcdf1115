// A TEST DOUBLE of libnccl.so.2 for machines without GPUs: a ring over TCP between the processes, on the
// network interface in NCCL_SOCKET_IFNAME, using the memory of tests/doubles/cuda_double.cpp, which is the
// host's. Sums are real, and times are those of the cables. NCCL chooses a ring's order, channels, protocols
// and GPUs; this has one ring in the order of ranks. tests/doubles/cuda_abi_test.py compares its declarations
// with nccl.h.
//
// RAIL_NCCL_WRONG=RANK spoils a value that this rank passes on. RAIL_NCCL_ONE_GPU=1: all share one GPU, which
// is refused as by NCCL ("Duplicate GPU detected") unless NCCL_HOSTID distinguishes them.
#include "check/mpi/nccl_abi.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <set>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

class Socket {
public:
    explicit Socket(int fd = -1) : fd_(fd) {}
    Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Socket& operator=(Socket&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Socket() {
        if (fd_ >= 0) ::close(fd_);
    }
    int fd() const { return fd_; }
    bool put(const void* from, size_t bytes) const {
        return ::send(fd_, from, bytes, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes);
    }
    bool get(void* to, size_t bytes) const {
        return ::recv(fd_, to, bytes, MSG_WAITALL) == static_cast<ssize_t>(bytes);
    }

private:
    int fd_;
};

// The address of the given interface, "=rail0"; otherwise loopback's.
sockaddr_in own_address() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const char* word = std::getenv("NCCL_SOCKET_IFNAME");
    const std::string wanted = word == nullptr ? "" : word + (*word == '=' ? 1 : 0);
    ifaddrs* all = nullptr;
    if (::getifaddrs(&all) != 0) return address;
    for (const auto* one = all; one != nullptr; one = one->ifa_next)
        if (one->ifa_addr != nullptr && one->ifa_addr->sa_family == AF_INET && wanted == one->ifa_name)
            address.sin_addr = reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr;
    ::freeifaddrs(all);
    return address;
}

Socket listening(sockaddr_in& at) {
    Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    at = own_address();
    socklen_t length = sizeof at;
    if (::bind(socket.fd(), reinterpret_cast<sockaddr*>(&at), sizeof at) != 0 ||
        ::listen(socket.fd(), 128) != 0 ||
        ::getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&at), &length) != 0)
        return Socket();
    return socket;
}

Socket connected(const sockaddr_in& to) {
    Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    auto from = own_address();
    const int on = 1;
    ::setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (::bind(socket.fd(), reinterpret_cast<const sockaddr*>(&from), sizeof from) != 0 ||
        ::connect(socket.fd(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
        return Socket();
    return socket;
}

ncclResult_t failed(const char* what) {
    std::fprintf(stderr, "NCCL's double: %s: %s\n", what, std::strerror(errno));
    return ncclSystemError;
}

struct Hello {
    int rank = 0, ranks = 0;
    sockaddr_in at{};
    std::array<char, 64> host{};
};

bool one_gpu_twice(const std::vector<Hello>& hellos) {
    if (std::getenv("RAIL_NCCL_ONE_GPU") == nullptr) return false;
    std::set<std::string> hosts;
    for (const auto& one : hellos)
        hosts.insert(one.host.data());
    return hosts.size() < hellos.size();
}

// Sends each process of a communicator the address of the next one in the ring.
void introduce(Socket listener) {
    std::vector<Socket> calls;
    std::vector<Hello> hellos;
    do {
        calls.emplace_back(::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!calls.back().get(&hellos.emplace_back(), sizeof(Hello))) return;
    } while (static_cast<int>(hellos.size()) < hellos.front().ranks);
    if (one_gpu_twice(hellos)) return;
    for (size_t i = 0; i < hellos.size(); ++i) {
        const int next = (hellos[i].rank + 1) % hellos[i].ranks;
        const auto found =
            std::find_if(hellos.begin(), hellos.end(), [&](const Hello& one) { return one.rank == next; });
        if (found != hellos.end()) calls[i].put(&found->at, sizeof found->at);
    }
}

} // namespace

struct ncclComm {
    int rank = 0, ranks = 1;
    Socket next, before;

    // Both at once; otherwise a ring of blocking sends would deadlock.
    bool pass(const char* out, size_t out_bytes, char* in, size_t in_bytes) const {
        while (out_bytes > 0 || in_bytes > 0) {
            std::array<pollfd, 2> ready{pollfd{out_bytes > 0 ? next.fd() : -1, POLLOUT, 0},
                                        pollfd{in_bytes > 0 ? before.fd() : -1, POLLIN, 0}};
            if (::poll(ready.data(), ready.size(), 60'000) <= 0) return false;
            if (ready[0].revents != 0) {
                const auto n = ::send(next.fd(), out, out_bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
                if (n <= 0 && errno != EAGAIN) return false;
                out += std::max<ssize_t>(n, 0), out_bytes -= static_cast<size_t>(std::max<ssize_t>(n, 0));
            }
            if (ready[1].revents != 0) {
                const auto n = ::recv(before.fd(), in, in_bytes, MSG_DONTWAIT);
                if (n == 0 || (n < 0 && errno != EAGAIN)) return false;
                in += std::max<ssize_t>(n, 0), in_bytes -= static_cast<size_t>(std::max<ssize_t>(n, 0));
            }
        }
        return true;
    }
};

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
    *version = 21'809;
    return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
    return result == ncclSuccess       ? "no error"
           : result == ncclSystemError ? "unhandled system error"
                                       : "invalid argument";
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
    sockaddr_in at{};
    auto listener = listening(at);
    if (listener.fd() < 0) return ncclSystemError;
    *id = {};
    std::memcpy(id->internal, &at, sizeof at);
    std::thread(introduce, std::move(listener)).detach();
    return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* made, int ranks, ncclUniqueId id, int rank) {
    sockaddr_in root{}, next{};
    std::memcpy(&root, id.internal, sizeof root);
    Hello hello{rank, ranks, {}, {}};
    if (const char* host = std::getenv("NCCL_HOSTID"))
        std::snprintf(hello.host.data(), hello.host.size(), "%s", host);
    const auto listener = listening(hello.at);
    const auto call = connected(root);
    if (listener.fd() < 0 || call.fd() < 0 || !call.put(&hello, sizeof hello))
        return failed("the ring's beginning");
    if (!call.get(&next, sizeof next)) return ncclInvalidUsage;
    auto comm = std::make_unique<ncclComm>();
    comm->rank = rank;
    comm->ranks = ranks;
    if (ranks > 1) {
        comm->next = connected(next);
        comm->before = Socket(::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC));
        if (comm->next.fd() < 0 || comm->before.fd() < 0) return failed("the ring's neighbours");
    }
    *made = comm.release();
    return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t with) {
    delete with;
    return ncclSuccess;
}

ncclResult_t ncclAllGather(const void* from, void* to, size_t each, ncclDataType_t type, ncclComm_t with,
                           CUstream_st*) {
    if (type != ncclFloat32) return ncclInvalidArgument;
    const size_t bytes = each * sizeof(float);
    const auto n = static_cast<size_t>(with->ranks), own = static_cast<size_t>(with->rank);
    auto* all = static_cast<char*>(to);
    std::memcpy(all + own * bytes, from, bytes);
    for (size_t step = 0; step + 1 < n; ++step) {
        const auto out = (own + n - step) % n, in = (own + n - step - 1) % n;
        if (!with->pass(all + out * bytes, bytes, all + in * bytes, bytes)) return ncclSystemError;
    }
    return ncclSuccess;
}

ncclResult_t ncclAllReduce(const void* from, void* to, size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, ncclComm_t with, CUstream_st*) {
    if (type != ncclFloat32 || operation != ncclSum) return ncclInvalidArgument;
    const auto n = static_cast<size_t>(with->ranks), own = static_cast<size_t>(with->rank);
    auto* sums = static_cast<float*>(to);
    std::memcpy(sums, from, count * sizeof(float));
    const char* spoiler = std::getenv("RAIL_NCCL_WRONG");
    if (spoiler != nullptr && std::atoi(spoiler) == with->rank && count > 0) sums[count / 2] += 1;
    const auto begin = [&](size_t part) { return sums + part * count / n; };
    const auto size = [&](size_t part) { return static_cast<size_t>(begin(part + 1) - begin(part)); };
    std::vector<float> got;
    for (size_t step = 0; step + 1 < n; ++step) {
        const auto out = (own + n - step) % n, in = (own + n - step - 1) % n;
        got.resize(size(in));
        if (!with->pass(reinterpret_cast<const char*>(begin(out)), size(out) * sizeof(float),
                        reinterpret_cast<char*>(got.data()), got.size() * sizeof(float)))
            return ncclSystemError;
        std::transform(got.begin(), got.end(), begin(in), begin(in), std::plus<>());
    }
    for (size_t step = 0; step + 1 < n; ++step) {
        const auto out = (own + n + 1 - step) % n, in = (own + n - step) % n;
        if (!with->pass(reinterpret_cast<const char*>(begin(out)), size(out) * sizeof(float),
                        reinterpret_cast<char*>(begin(in)), size(in) * sizeof(float)))
            return ncclSystemError;
    }
    return ncclSuccess;
}

} // extern "C"
