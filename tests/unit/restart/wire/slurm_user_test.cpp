#include "restart/wire/slurm_user.hpp"

#include "base/file.hpp"
#include "unit/folder.hpp"

#include <catch2/catch.hpp>

using restart::slurm_user_in;

TEST_CASE("SlurmUser is read as Slurm reads it") {
    const test::Folder folder;
    const auto conf = folder.path / "slurm.conf";
    struct Row {
        const char *text, *user;
    };
    const Row rows[] = {
        {"ClusterName=a\nSlurmUser=hpc\n", "hpc"},
        {"slurmuser = hpc # SlurmUser=other", "hpc"},
        {"#SlurmUser=hpc\n", "root"}, // Slurm's default
        {"", "root"},
        {"SlurmdUser=hpc\nMySlurmUser=x\n", "root"},
        {"SlurmctldPort=6817 SlurmUser=\"hpc\" SlurmdUser=root\r\n", "hpc"},
        {"SlurmUser=one\nSlurmUser=two\n", "two"},
        {"Slurm\\\nUser=hpc", "hpc"},
        {"SlurmUser=64030", "64030"},
        {"SlurmUser=\nNodeName=n[1-4] CPUs=4 State=UNKNOWN\n", "root"},
        {"= = SlurmUser=hpc", "hpc"},
        {"Include more.conf\n", "included"},
        {"include more.conf\nSlurmUser=hpc\n", "hpc"},
        {"SlurmUser=hpc\nInclude none.conf\n", "hpc"},
        {"SlurmUser=hpc\nInclude slurm.conf\n", "hpc"}, // in a circle
        {"SlurmUser=\"hpc", "hpc"},
        {"SlurmUser", "root"},
        {"\\", "root"},
    };
    REQUIRE(base::write_file(folder.path / "more.conf", "SlurmUser=included\n"));
    for (const auto& row : rows) {
        INFO(row.text);
        REQUIRE(base::write_file(conf, row.text));
        CHECK(slurm_user_in(conf) == row.user);
    }
    CHECK_FALSE(slurm_user_in(folder.path / "none.conf"));
    CHECK_FALSE(slurm_user_in(folder.path));
}
