// A file for the processes that railrun starts.
#pragma once

#include "base/unique_fd.hpp"

#include <fmt/format.h>

#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace restart::run {

// An unnamed file, at a path that this user's processes on this host can read during our lifetime.
class NamelessFile {
public:
    NamelessFile() : fd_(::memfd_create("railrun-hosts", MFD_CLOEXEC)) {}
    std::string path() const {
        return fd_ ? fmt::format("/proc/{}/fd/{}", ::getpid(), fd_.get()) : std::string();
    }
    void write(const std::string& text) const {
        if (!fd_ || ::ftruncate(fd_.get(), 0) != 0) return;
        std::size_t done = 0;
        while (done < text.size()) {
            const auto n =
                ::pwrite(fd_.get(), text.data() + done, text.size() - done, static_cast<off_t>(done));
            if (n <= 0) return;
            done += static_cast<std::size_t>(n);
        }
    }

private:
    base::UniqueFd fd_;
};

} // namespace restart::run
