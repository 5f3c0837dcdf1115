// Sessions on a test's directory, and what they leave there.
#pragma once

#include "folder.hpp"
#include "restart/ckpt/session.hpp"

namespace ckpt_test {

inline restart::ckpt::Session open(const std::filesystem::path& dir, std::uint32_t restart = 0,
                                   unsigned keep = 2) {
    restart::ckpt::Options options;
    options.dir = dir.string();
    options.job = 12;
    options.restart = restart;
    options.keep = keep;
    auto session = restart::ckpt::Session::open(options);
    INFO((session ? "" : session.error().text));
    REQUIRE(session);
    return std::move(*session);
}

inline void put(restart::ckpt::Session& session, std::uint64_t step, const std::string& bytes = "state") {
    const auto stage = session.begin(step);
    INFO((stage ? "" : stage.error().text));
    REQUIRE(stage);
    write(*stage / "rank-0.bin", bytes);
    write(*stage / "sub" / "rank-1.bin", bytes + bytes);
    const auto done = session.commit();
    INFO((done ? "" : done.error().text));
    REQUIRE(done);
}

inline std::uint64_t newest(restart::ckpt::Session& session,
                            restart::ckpt::Depth depth = restart::ckpt::Depth::sizes) {
    const auto latest = session.latest(depth);
    REQUIRE(latest);
    REQUIRE(latest->newest);
    return latest->newest->manifest.id.step;
}

// Nothing but whole checkpoints and the directory's own files is left.
inline void check_clean(const std::filesystem::path& dir) {
    CHECK(names(dir, ".stage-").empty());
    CHECK(names(dir, ".trash-").empty());
}

} // namespace ckpt_test
