#include "layouts.hpp"

#include "base/unique_fd.hpp"

#include <functional>

using namespace kinds_test;
using Catch::Contains;

TEST_CASE("of Megatron's directory the newest is what its tracker names") {
    Layout there;
    there.iteration(100, 1);
    there.iteration(200, 2);
    there.tracker("200\n", 3);
    const auto found = look(there, "megatron");
    REQUIRE(found.newest);
    CHECK(found.newest->name == "iter_0000200");
    CHECK(found.newest->step == 200u);
    CHECK(found.newest->files == 5);
    CHECK(found.newest->bytes == 7 + 7 + 6 + 9 + 2);
    CHECK(base::to_seconds(found.newest->done - hour_ago) == Approx(180).margin(1));
    CHECK(base::to_seconds(found.newest->changed - hour_ago) == Approx(120).margin(1));
    CHECK(found.passed_over.empty());
    CHECK(found.settled);
}

TEST_CASE("Megatron's accidents are told, and are no checkpoint") {
    Layout there;
    there.iteration(100, 1);
    there.tracker("100", 2);
    SECTION("the next one is being written") {
        there.shards("iter_0000200", 3, false);
        const auto found = look(there, "megatron");
        REQUIRE(found.newest);
        CHECK(found.newest->step == 100u);
        REQUIRE(found.passed_over.size() == 1);
        CHECK_THAT(found.passed_over[0],
                   Contains("iter_0000200: latest_checkpointed_iteration.txt does not name it"));
    }
    SECTION("the tracker names a folder that is still written") {
        there.shards("iter_0000200", 3, false);
        there.tracker("200", 3);
        CHECK_THAT(newest(there, "megatron"), Contains("none: iter_0000200: has no .metadata"));
        CHECK_FALSE(look(there, "megatron").settled);
    }
    SECTION("the folder was deleted") {
        there.remove("iter_0000100");
        CHECK_THAT(newest(there, "megatron"), Contains("iter_0000100: is not there") && Contains("deleted"));
    }
    SECTION("a shard is torn") {
        there.put("iter_0000100/__1_0.distcp", "", 1);
        CHECK_THAT(newest(there, "megatron"), Contains("__1_0.distcp is empty"));
    }
    SECTION("its metadata are torn") {
        there.put("iter_0000100/.metadata", "", 1);
        CHECK_THAT(newest(there, "megatron"), Contains(".metadata is empty"));
    }
    SECTION("the folder is written again by a job that was sent back") {
        there.put("iter_0000100/__1_0.distcp", "tensors", 5);
        CHECK_THAT(newest(there, "megatron"), Contains("is being written again"));
    }
    SECTION("the tracker is being written") {
        there.tracker("", 5);
        CHECK_THAT(newest(there, "megatron"), Contains("latest_checkpointed_iteration.txt: is empty"));
        CHECK_FALSE(look(there, "megatron").settled);
    }
    SECTION("the tracker is torn") {
        there.tracker("1e9", 5);
        CHECK_THAT(newest(there, "megatron"), Contains("not an iteration"));
    }
    SECTION("there is none") {
        there.remove("latest_checkpointed_iteration.txt");
        CHECK_THAT(newest(there, "megatron"), Contains("iter_0000100") && Contains("does not name it"));
    }
    SECTION("another job on the same directory went back") {
        there.iteration(200, 3);
        there.tracker("100", 4);
        CHECK(newest(there, "megatron") == "iter_0000100 step 100");
    }
}

TEST_CASE("Megatron's other formats: legacy ranks, a release, PyTorch's own") {
    Layout there;
    there.tracker("7", 3);
    SECTION("legacy") {
        for (const auto* rank : {"00_000", "00_001", "01_000", "01_001"})
            there.put(fmt::format("iter_0000007/mp_rank_{}/model_optim_rng.pt", rank), "model", 2);
        const auto found = look(there, "megatron");
        REQUIRE(found.newest);
        CHECK(found.newest->ranks == 4);
        there.remove("iter_0000007/mp_rank_01_000");
        CHECK_THAT(newest(there, "megatron"), Contains("shards of some ranks are missing"));
        there.put("iter_0000007/mp_rank_02/model_optim_rng.pt", "of another number of ranks", 2);
        CHECK_THAT(newest(there, "megatron"), Contains("another number of ranks"));
        there.remove("iter_0000007/mp_rank_02");
        there.put("iter_0000007/mp_rank_01_000/distrib_optim.pt", "optimizer", 2);
        CHECK_THAT(newest(there, "megatron"), Contains("mp_rank_01_000/model_optim_rng.pt is missing"));
    }
    SECTION("release") {
        there.tracker("release", 3);
        there.put("release/mp_rank_00/model_optim_rng.pt", "model", 2);
        CHECK(newest(there, "megatron") == "release step 0");
    }
    SECTION("torch_dcp") {
        there.shards("iter_0000007", 2);
        CHECK(newest(there, "megatron") == "iter_0000007 step 7");
    }
}

TEST_CASE("of DeepSpeed's directory the newest is what latest names, with all its ranks") {
    Layout there;
    there.deepspeed(100, 4, 1);
    there.put("latest", "global_step100", 2);
    const auto found = look(there, "deepspeed");
    REQUIRE(found.newest);
    CHECK(found.newest->step == 100u);
    CHECK(found.newest->ranks == 4);
    SECTION("latest is older than what is there") {
        there.deepspeed(200, 4, 3);
        CHECK(newest(there, "deepspeed") == "global_step100 step 100");
        CHECK_THAT(look(there, "deepspeed").passed_over.at(0),
                   Contains("global_step200: latest does not name it"));
    }
    SECTION("a rank's shard is missing") {
        there.remove("global_step100/bf16_zero_pp_rank_2_mp_rank_00_optim_states.pt");
        CHECK_THAT(newest(there, "deepspeed"), Contains("shards of some ranks are missing"));
    }
    SECTION("shards of another number of ranks") {
        there.put("global_step100/bf16_zero_pp_rank_0_mp_rank_01_optim_states.pt", "optimizer", 1);
        for (int rank = 1; rank < 4; ++rank)
            there.put(fmt::format("global_step100/bf16_zero_pp_rank_{}_mp_rank_01_optim_states.pt", rank),
                      "o", 1);
        CHECK_THAT(newest(there, "deepspeed"), Contains("are not of one number of ranks"));
    }
    SECTION("ZeRO 3 has the model in as many shards") {
        there.remove("global_step100/mp_rank_00_model_states.pt");
        for (int rank = 0; rank < 4; ++rank)
            there.put(fmt::format("global_step100/zero_pp_rank_{}_mp_rank_00_model_states.pt", rank), "m", 1);
        CHECK(newest(there, "deepspeed") == "global_step100 step 100");
        there.remove("global_step100/zero_pp_rank_3_mp_rank_00_model_states.pt");
        CHECK_THAT(newest(there, "deepspeed"), Contains("are not of one number of ranks"));
    }
    SECTION("its experts have groups of their own") {
        there.put("global_step100/layer_0_expert_0_mp_rank_00_model_states.pt", "expert", 1);
        there.remove("global_step100/bf16_zero_pp_rank_2_mp_rank_00_optim_states.pt");
        CHECK(newest(there, "deepspeed") == "global_step100 step 100");
    }
    SECTION("latest leads elsewhere, or is no text") {
        for (const auto* text : {"../global_step100", "/etc", ".", "..", "a/b", "\x1b[2J",
                                 "\xc2\x9b"
                                 "2J"}) {
            there.put("latest", text, 2);
            CHECK_THAT(newest(there, "deepspeed"), Contains("not a name in this directory"));
            CHECK(newest(there, "deepspeed").find('\x1b') == std::string::npos);
        }
        there.put("latest", std::string(5000, 'x'), 2);
        CHECK(try_look(there, "deepspeed").error().code == base::Code::input);
    }
    SECTION("a tag of the user's") {
        std::filesystem::rename(there.dir / "global_step100", there.dir / "best so far");
        there.put("latest", "best so far", 2);
        CHECK(newest(there, "deepspeed") == "best so far step unknown");
    }
    SECTION("it is deleted") {
        there.remove("global_step100");
        CHECK_THAT(newest(there, "deepspeed"), Contains("global_step100: is not there"));
    }
    SECTION("a link is not followed") {
        std::filesystem::rename(there.dir / "global_step100", there.dir / "elsewhere");
        there.link("elsewhere", "global_step100");
        CHECK_THAT(newest(there, "deepspeed"), Contains("links are not followed"));
    }
}

TEST_CASE("a distributed checkpoint of PyTorch's is whole by its .metadata") {
    Layout there;
    there.shards("step-90", 1);
    there.shards("step-100", 2);
    CHECK(newest(there, "dcp") == "step-100 step 100"); // by number, not by name
    there.shards("step-200", 3, false);
    CHECK(newest(there, "dcp") == "step-100 step 100");
    CHECK_THAT(look(there, "dcp").passed_over.at(0), Contains("step-200: has no .metadata"));
    there.put("step-200/.metadata.tmp", "pic", 3);
    CHECK(newest(there, "dcp") == "step-100 step 100");
    there.put("step-200/.metadata", "pickle", 3.1);
    CHECK(newest(there, "dcp") == "step-100 step 100"); // being written again
    there.remove("step-200/.metadata.tmp");
    CHECK(newest(there, "dcp") == "step-200 step 200");
    there.put("step-200/__1_0.distcp", "", 3);
    CHECK(newest(there, "dcp") == "step-100 step 100");
    Layout alone;
    alone.shards(".", 1);
    CHECK(newest(alone, "dcp") == " step unknown");
}

TEST_CASE("NeMo's checkpoints count when their markers are gone") {
    Layout there;
    const std::string name = "gpt--val_loss=2.50-step=200-consumed_samples=6400.0";
    there.nemo(name, 1);
    there.nemo(name + "-last", 1);
    CHECK(newest(there, "nemo") == name + "-last step 200");
    there.put(name + "-last-unfinished", "", 1);
    CHECK(newest(there, "nemo") == name + " step 200");
    there.put(name + "-unfinished", "", 1);
    CHECK_THAT(newest(there, "nemo"), Contains("none: ") && Contains("is marked unfinished"));
    there.remove(name + "-unfinished");
    there.remove(name + "-last");
    there.remove(name + "-last-unfinished");
    there.link(name, name + "-last");
    CHECK(newest(there, "nemo") == name + "-last step 200");
    there.remove(name + "-last");
    there.link("../" + name, name + "-last");
    CHECK(newest(there, "nemo") == name + " step 200");
    CHECK_THAT(look(there, "nemo").passed_over.at(0), Contains("link out of this directory"));
    there.remove(name + "/weights/.metadata");
    CHECK_THAT(newest(there, "nemo"), Contains("none"));
}

TEST_CASE("Lightning's newest file counts when no process writes to it") {
    Layout there;
    there.put("epoch=0-step=100.ckpt", "state", 1);
    there.put("epoch=1-step=200-v1.ckpt", "state", 2);
    CHECK(newest(there, "lightning") == "epoch=1-step=200-v1.ckpt step 200");
    there.put("last.ckpt", "state", 3);
    CHECK(newest(there, "lightning") == "last.ckpt step 200");
    there.remove("last.ckpt");
    there.link("epoch=1-step=200-v1.ckpt", "last.ckpt");
    CHECK(newest(there, "lightning") == "epoch=1-step=200-v1.ckpt step 200");
    there.put("epoch=2-step=300.ckpt", "", 4);
    CHECK(newest(there, "lightning") == "epoch=1-step=200-v1.ckpt step 200");
    // A moment ago, and a process has it open.
    const base::UniqueFd writer(::open((there.dir / "epoch=2-step=300.ckpt").c_str(), O_WRONLY));
    REQUIRE(::write(writer.get(), "st", 2) == 2);
    const auto found = look(there, "lightning");
    CHECK(found.newest->step == 200u);
    CHECK_FALSE(found.settled);
    Layout sharded;
    sharded.shards("epoch=0-step=50.ckpt", 1);
    CHECK(newest(sharded, "lightning") == "epoch=0-step=50.ckpt step 50");
}

TEST_CASE("Orbax's steps count once they are renamed and marked") {
    Layout there;
    there.orbax("100", 1);
    there.orbax("200.orbax-checkpoint-tmp", 2, false);
    CHECK(newest(there, "orbax") == "100 step 100");
    CHECK_THAT(look(there, "orbax").passed_over.at(0),
               Contains("200.orbax-checkpoint-tmp: is being written"));
    there.orbax("300", 3, false);
    CHECK(newest(there, "orbax") == "100 step 100"); // others are marked, so this one has not ended
    there.put("300/commit_success.txt", "Checkpoint commit was successful", 3.2);
    CHECK(newest(there, "orbax") == "300 step 300");
    Layout older;
    older.orbax("ckpt_7", 1, false);
    CHECK(newest(older, "orbax") == "ckpt_7 step 7");
    older.put("ckpt_7/default.orbax-checkpoint-tmp-17/d", "tensors", 1);
    CHECK_THAT(newest(older, "orbax"), Contains("an item whose save has not ended"));
}

TEST_CASE("a plain pattern takes the highest step that nothing writes to") {
    Layout there;
    there.put("model_90.pt", "state", 5);
    there.put("model_100.pt", "state", 4);
    there.put("model_200.pt.tmp", "sta", 6);
    there.put("notes.txt", "", 6);
    CHECK(newest(there, "glob:model_*.pt") == "model_100.pt step 100");
    there.put("run_7/a", "state", 2);
    CHECK(newest(there, "glob:run_*") == "run_7 step 7");
    there.put("run_8/deep/b", "sta", 70); // a folder is quiet only by time
    CHECK(newest(there, "glob:run_*") == "run_7 step 7");
    there.link("run_8", "run_9");
    CHECK(newest(there, "glob:run_*") == "run_7 step 7");
}

TEST_CASE("auto tells whose checkpoints are there, and unknown from none") {
    const auto decided = [](const Layout& there) { return to_string(look(there, "auto").kind); };
    Layout there;
    CHECK(decided(there) == "auto");
    CHECK_FALSE(look(there, "auto").others);
    SECTION("unknown") {
        there.put("state.bin", "state", 1);
        CHECK(decided(there) == "auto");
        CHECK(look(there, "auto").others);
    }
    SECTION("railckpt") {
        there.put("epoch", "1", 1);
        there.put(".lock", "", 1);
        CHECK(decided(there) == "railckpt");
        CHECK_FALSE(look(there, "auto").others);
        there.iteration(100, 1); // claimed by a script that asked before the program saved
        CHECK(decided(there) == "megatron");
        there.put("ckpt-E0001-S000000000400/MANIFEST.json", "", 1);
        CHECK(decided(there) == "railckpt");
    }
    SECTION("megatron") {
        there.iteration(100, 1);
        CHECK(decided(there) == "megatron");
        CHECK_FALSE(look(there, "auto").newest);
    }
    SECTION("deepspeed") {
        there.deepspeed(100, 1, 1);
        CHECK(decided(there) == "deepspeed");
    }
    SECTION("a link that is named latest says nothing") {
        there.put("run_7", "state", 1);
        there.link("run_7", "latest");
        CHECK(decided(there) == "auto");
    }
    SECTION("dcp") {
        there.shards("step-1", 1, false);
        CHECK(decided(there) == "dcp");
    }
    SECTION("nemo") {
        there.nemo("gpt-step=1-last", 1);
        CHECK(decided(there) == "nemo");
    }
    SECTION("lightning") {
        there.put("last.ckpt", "state", 1);
        CHECK(decided(there) == "lightning");
    }
    SECTION("orbax") {
        there.orbax("100", 1);
        CHECK(decided(there) == "orbax");
    }
}

namespace {

// A save of step 200 in the order in which the framework makes its files, over a whole checkpoint of step
// 100.
struct Save {
    const char* word;
    std::function<void(const Layout&)> before;
    std::vector<std::function<void(const Layout&)>> writes;
    // After this many writes nothing counts: the pointer is written in place and empty for a moment.
    std::size_t blind = 0;
};

std::function<void(const Layout&)> writes(std::string name, std::string bytes, double minute = 3) {
    return [=](const Layout& there) { there.put(name, bytes, minute); };
}

std::function<void(const Layout&)> renames(std::string from, std::string to) {
    return [=](const Layout& there) { std::filesystem::rename(there.dir / from, there.dir / to); };
}

std::vector<Save> saves() {
    const std::string iteration = "iter_0000200/", tracker = "latest_checkpointed_iteration.txt",
                      tag = "global_step200/", nemo = "gpt--step=200-last", step = "step-200/",
                      orbax = "200.orbax-checkpoint-tmp";
    return {
        {"megatron",
         [=](const Layout& there) {
             there.iteration(100, 1);
             there.tracker("100", 2);
         },
         {writes(iteration + "common.pt", ""), writes(iteration + "common.pt", "arguments"),
          writes(iteration + "__0_0.distcp", ""), writes(iteration + "__0_0.distcp", "tensors"),
          writes(iteration + "__1_0.distcp", "tensors"), writes(iteration + ".metadata.tmp", "pickle"),
          renames(iteration + ".metadata.tmp", iteration + ".metadata"),
          writes(iteration + "metadata.json", "{}"), writes(tracker, "", 4), writes(tracker, "200", 4)},
         9},
        {"deepspeed",
         [](const Layout& there) {
             there.deepspeed(100, 2, 1);
             there.put("latest", "global_step100", 2);
         },
         {writes(tag + "mp_rank_00_model_states.pt", ""), writes(tag + "mp_rank_00_model_states.pt", "model"),
          writes(tag + "zero_pp_rank_1_mp_rank_00_optim_states.pt", "optimizer"),
          writes(tag + "zero_pp_rank_0_mp_rank_00_optim_states.pt", "optimizer"), writes("latest", "", 4),
          writes("latest", "global_step200", 4)},
         5},
        {"dcp",
         [](const Layout& there) { there.shards("step-100", 1); },
         {writes(step + "__0_0.distcp", ""), writes(step + "__0_0.distcp", "tensors"),
          writes(step + "__1_0.distcp", "tensors"), writes(step + ".metadata.tmp", "pick"),
          writes(step + ".metadata.tmp", "pickle"), renames(step + ".metadata.tmp", step + ".metadata")}},
        {"nemo",
         [](const Layout& there) { there.nemo("gpt--step=100-last", 1); },
         {writes(nemo + "-unfinished", ""), writes(nemo + "/context/model.yaml", "model"),
          writes(nemo + "/weights/__0_0.distcp", "tensors"),
          writes(nemo + "/weights/.metadata.tmp", "pickle"),
          renames(nemo + "/weights/.metadata.tmp", nemo + "/weights/.metadata"),
          writes(nemo + "/weights/metadata.json", "{}"),
          [=](const Layout& there) { there.remove(nemo + "-unfinished"); }}},
        {"lightning",
         [](const Layout& there) { there.put("epoch=0-step=100.ckpt", "state", 1); },
         {writes("tmp1a2b3c", "sta"), writes("tmp1a2b3c", "state"),
          renames("tmp1a2b3c", "epoch=1-step=200.ckpt")}},
        {"orbax",
         [](const Layout& there) { there.orbax("100", 1); },
         {writes(orbax + "/_CHECKPOINT_METADATA", "{}"), writes(orbax + "/default/d/1", "tensors"),
          writes(orbax + "/default/manifest.ocdbt", "tensors"), writes(orbax + "/commit_success.txt", "done"),
          renames(orbax, "200")}},
        {"orbax", // on a file system without atomic renames
         [](const Layout& there) { there.orbax("100", 1); },
         {writes("200/_CHECKPOINT_METADATA", "{}"), writes("200/default/d/1", "tensors"),
          writes("200/commit_success.txt", "done")}},
    };
}

} // namespace

TEST_CASE(
    "a program that is killed at any moment of a save goes on from the one before, and it is what counts") {
    for (const auto& save : saves()) {
        Layout there;
        save.before(there);
        for (std::size_t done = 0; done <= save.writes.size(); ++done) {
            if (done > 0) save.writes[done - 1](there);
            for (const auto* word : {save.word, "auto"}) {
                CAPTURE(save.word, word, done);
                const auto found = look(there, word);
                CHECK(to_string(found.kind) == save.word);
                if (save.blind != 0 && done == save.blind) {
                    CHECK_FALSE(found.newest);
                    CHECK_FALSE(found.passed_over.empty());
                    continue;
                }
                REQUIRE(found.newest);
                CHECK(found.newest->step == (done == save.writes.size() ? 200u : 100u));
            }
        }
    }
}
