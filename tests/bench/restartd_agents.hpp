// The other end of restartd_bench: as many kept-open connections as agents, each with a channel of its own,
// on one thread; and readers, each on a thread of its own.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace bench {

// How long reports waited, in seconds.
class Waits {
public:
    class Sorted {
    public:
        explicit Sorted(std::vector<double> seconds);
        std::size_t size() const { return seconds_.size(); }
        double at(double share) const; // 0.5: the median
    private:
        std::vector<double> seconds_;
    };
    void add(double seconds) { seconds_.push_back(seconds); }
    Sorted sorted() const { return Sorted(seconds_); }

private:
    std::vector<double> seconds_;
};

class Agents {
public:
    struct Options {
        std::uint16_t port = 0;
        std::string munge_socket; // empty: nothing is signed
        std::size_t hosts = 0;
        std::uint32_t seed = 1;
    };
    explicit Agents(const Options& options);
    Agents(const Agents&) = delete;
    Agents& operator=(const Agents&) = delete;
    ~Agents();

    // All at once; returns the seconds until the last has its first report answered.
    double connect();
    // So many reports a second, by all in turn; of those, `changing` in a hundred begin or end a warning. A
    // wait counts from when the report was due.
    Waits evenly(double rate, unsigned changing, std::uint32_t seconds);
    // As many as are answered, so many under way; each begins or ends a warning.
    Waits flood(std::size_t under_way, std::uint32_t seconds);

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

// Ask restartd to explain hosts, each again as soon as it has its answer, until they go.
class Readers {
public:
    Readers(std::uint16_t port, unsigned count, std::size_t hosts);
    double rate() const; // answers a second so far

private:
    std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
    std::atomic<std::size_t> answers_ = 0;
    std::vector<std::jthread> threads_;
};

} // namespace bench
