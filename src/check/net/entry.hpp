// Authentication: each process proves, by MUNGE, that it runs as the same user (or root), or that it knows a
// secret; and so does the process that it connects to. Later messages on the connection are not signed: the
// network between hosts is trusted not to change them, as for Slurm and MPI.
#pragma once

#include "base/expected.hpp"

#include <string>
#include <string_view>

namespace check::net {

class Entry {
public:
    // `socket`: munged's; empty: MUNGE's own.
    static Entry by_munge(std::string socket);
    // The file's content, at least 16 bytes long, which no one else may read. Errors: Code::denied,
    // Code::input, Code::io.
    static base::Expected<Entry> by_secret(const std::string& file);

    // Proves who sends `text`, to the peer that issued this challenge.
    base::Expected<std::string> prove(std::string_view text, std::string_view challenge) const;
    // Errors: Code::denied; Code::unavailable when munged does not answer.
    base::Expected<void> check(std::string_view text, std::string_view challenge,
                               std::string_view proof) const;

private:
    std::string socket_, secret_;
};

// 32 hexadecimal digits that cannot be guessed.
std::string random_challenge();

} // namespace check::net
