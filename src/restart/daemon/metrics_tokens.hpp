// The tokens of [restartd] metrics_token: they allow reading the metrics and nothing else. Prometheus can
// send such a token; it has no MUNGE.
#pragma once

#include "base/expected.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace restart {

class MetricsTokens {
public:
    // One a line, so that a new one can be added before the old one is removed. An empty path: there are
    // none. Errors (Code::input) name the file: it cannot be read, others than its owner and group can read
    // it, it has no token, or one that is too short or cannot be sent.
    static base::Expected<MetricsTokens> read(const std::filesystem::path& path);

    // In constant time, which does not reveal how much of it was right.
    bool hold(std::string_view token) const;

private:
    std::vector<std::string> digests_;
};

} // namespace restart
