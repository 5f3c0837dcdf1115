#include "restart/run/checkpoints.hpp"

#include "unit/folder.hpp"

#include <catch2/catch.hpp>

using restart::run::Checkpoints;

TEST_CASE(
    "a launch claims the job's directory, but not one in which the program keeps checkpoints of its own") {
    for (const auto* kind : {"", "railckpt", "auto", "megatron", "glob:*.pt"}) {
        const test::Folder folder;
        Checkpoints checkpoints([&](const std::string& name) -> std::optional<std::string> {
            if (name == "RAIL_CKPT_DIR") return folder.path.string();
            if (name == "RAIL_CKPT_KIND") return kind;
            if (name == "SLURM_JOB_ID") return "12";
            return {};
        });
        const auto launch = checkpoints.claim();
        REQUIRE(launch);
        const bool another =
            std::string_view(kind) == "megatron" || std::string_view(kind).starts_with("glob:");
        CAPTURE(kind);
        CHECK(launch->empty() == another);
        CHECK(std::filesystem::is_empty(folder.path) == another);
    }
}
