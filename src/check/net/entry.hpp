// Who may take part: each process shows that it is of the same user (or root), by MUNGE, or that it knows a
// secret; and so does the one that it comes to. What is said on the connection later is not signed: the
// network between hosts is trusted not to change it, as Slurm's and MPI's own is.
#pragma once

#include "base/expected.hpp"

#include <string>
#include <string_view>

namespace check::net {

class Entry {
public:
    // `socket`: munged's; empty: MUNGE's own.
    static Entry by_munge(std::string socket);
    // The file's content, which is at least 16 bytes long and which nobody else may read. Errors:
    // Code::denied, Code::input, Code::io.
    static base::Expected<Entry> by_secret(const std::string& file);

    // A proof of who says `text`, for whoever asked with this challenge.
    base::Expected<std::string> prove(std::string_view text, std::string_view challenge) const;
    // Errors: Code::denied; Code::unavailable when munged does not answer.
    base::Expected<void> check(std::string_view text, std::string_view challenge,
                               std::string_view proof) const;

private:
    std::string socket_, secret_;
};

// 32 hexadecimal digits that nobody can guess.
std::string random_challenge();

} // namespace check::net
