#include "base/ckpt_signal.hpp"

#include "base/units.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <fmt/format.h>
#include <limits>

namespace base {
namespace {

// Those by which programs are asked, and no more: what stops, kills or wakes is none.
struct SignalWord {
    int number;
    std::string_view name;
};
constexpr std::array<SignalWord, 6> signal_words{{{SIGTERM, "SIGTERM"},
                                                  {SIGUSR1, "SIGUSR1"},
                                                  {SIGUSR2, "SIGUSR2"},
                                                  {SIGINT, "SIGINT"},
                                                  {SIGHUP, "SIGHUP"},
                                                  {SIGQUIT, "SIGQUIT"}}};
constexpr std::string_view short_of = "SIG", file_prefix = "file:";

Error wrong() {
    return {Code::usage,
            "must be none, file:PATH, or a signal (TERM, USR1, USR2, INT, HUP, QUIT) with @ranks, "
            "@script or @ and the number of a process, such as USR1@ranks"};
}

Expected<CkptSignal> file_way(std::string_view path) {
    const bool plain = std::none_of(path.begin(), path.end(),
                                    [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
    if (!path.starts_with('/') || path.ends_with('/') || path.size() > 4095 || !plain)
        return Error{Code::usage,
                     "file: must be followed by an absolute path, such as file:/scratch/run7/save"};
    CkptSignal signal;
    signal.way = CkptSignal::Way::file;
    signal.path = std::string(path);
    return signal;
}

} // namespace

Expected<CkptSignal> parse_ckpt_signal(std::string_view text) {
    if (text == "none") return CkptSignal{};
    if (text.starts_with(file_prefix)) return file_way(text.substr(file_prefix.size()));
    const auto at = text.find('@');
    if (at == std::string_view::npos) return wrong();
    const auto name = text.substr(0, at), to = text.substr(at + 1);
    const auto word = std::find_if(signal_words.begin(), signal_words.end(), [&](const SignalWord& row) {
        return name == row.name || name == row.name.substr(short_of.size());
    });
    if (word == signal_words.end()) return wrong();
    CkptSignal signal{CkptSignal::Way::signal, word->number};
    if (to == "ranks") return signal;
    if (to == "script") {
        signal.to = CkptSignal::To::script;
        return signal;
    }
    const auto process = parse_count(to);
    // 1 is no job's.
    if (!process || *process < 2 || *process > std::numeric_limits<pid_t>::max()) return wrong();
    signal.to = CkptSignal::To::process;
    signal.process = static_cast<pid_t>(*process);
    return signal;
}

std::string_view signal_name(int number) {
    for (const auto& row : signal_words)
        if (row.number == number) return row.name;
    return {};
}

std::string to_string(const CkptSignal& signal) {
    if (signal.way == CkptSignal::Way::none) return "none";
    if (signal.way == CkptSignal::Way::file) return fmt::format("{}{}", file_prefix, signal.path);
    const auto name = signal_name(signal.number).substr(short_of.size());
    switch (signal.to) {
    case CkptSignal::To::ranks: return fmt::format("{}@ranks", name);
    case CkptSignal::To::script: return fmt::format("{}@script", name);
    case CkptSignal::To::process: break;
    }
    return fmt::format("{}@{}", name, signal.process);
}

// Megatron-LM: --exit-signal-handler (megatron/training/dist_signal_handler.py); a signal to any rank is
// every rank's (all_gather), saved at the end of the iteration (training.py, checkpoint_and_decide_exit).
// NeMo: PreemptionCallback (nemo/lightning/pytorch/callbacks/preemption.py), heeded in rank 0.
// Orbax: CheckpointManager.reached_preemption (checkpoint_manager.py), by JAX's preemption service, which
// takes SIGTERM in any process. Lightning ends at SIGTERM, and saves then only with
// ModelCheckpoint(save_on_exception=True); at SIGUSR1 it saves and requeues its job itself, without a word to
// restartd (trainer/connectors/signal_connector.py). DeepSpeed's engine and torch.distributed.checkpoint hear
// nothing: their callers decide.
CkptSignal own_signal(CkptLayout layout) {
    switch (layout) {
    case CkptLayout::megatron:
    case CkptLayout::nemo:
    case CkptLayout::orbax: return {CkptSignal::Way::signal, SIGTERM};
    case CkptLayout::automatic:
    case CkptLayout::railckpt:
    case CkptLayout::deepspeed:
    case CkptLayout::dcp:
    case CkptLayout::lightning:
    case CkptLayout::glob: break;
    }
    return {};
}

} // namespace base
