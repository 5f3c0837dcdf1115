// A restartd for benchmarks in a process of its own: driver, journal, HTTP server and a munged, beside a
// double of the resource manager. Make it while this process has one thread.
#pragma once

#include "unit/folder.hpp"
#include "unit/restart/wire/private_munged.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace bench {

std::vector<std::string> host_names(std::size_t hosts);

class Yard {
public:
    struct Options {
        std::size_t hosts = 0;
        std::size_t jobs = 0;
        std::size_t notes = 0; // in the journal from the beginning
        bool limit = false;    // nothing but the HTTP server, which answers 204
    };
    explicit Yard(const Options& options); // serves when made; ends the process when it cannot
    Yard(const Yard&) = delete;
    Yard& operator=(const Yard&) = delete;
    ~Yard();

    std::uint16_t port() const { return port_; }
    std::string munge_socket() const { return munged_.socket(); }

    // Since they began, in seconds of one core.
    double cpu() const;
    double munged_cpu() const;
    std::size_t memory() const; // resident, in bytes

private:
    test::Folder folder_;
    test::PrivateMunged munged_;
    pid_t pid_ = -1;
    int leash_ = -1; // the process ends when this closes
    std::uint16_t port_ = 0;
};

} // namespace bench
