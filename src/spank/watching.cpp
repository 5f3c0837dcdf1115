#include "spank/watching.hpp"
#include "spank/remote.hpp"

#include "base/child.hpp"
#include "base/ckpt_kind.hpp"
#include "base/unique_fd.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace spank {

void start_watching(spank_t handle, const std::string& text, const std::string& signal) {
    // Checked at submission, but a script may change the variable. railckpt commit reports by itself.
    const auto kind = base::parse_ckpt_kind(text);
    const auto folder = task_variable(handle, "RAIL_CKPT_DIR");
    char** environment = nullptr;
    if (!kind || kind->known == base::CkptLayout::railckpt || !folder || folder->empty() ||
        spank_get_item(handle, S_JOB_ENV, &environment) != ESPANK_SUCCESS)
        return;
    const auto railckpt = options().railckpt(node_name());
    const auto script = std::to_string(::getpid());
    // Not a child of the script, which may wait for all its children.
    const pid_t between = ::fork();
    if (between == 0) {
        const base::UniqueFd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
        std::vector<std::string> words{railckpt, "watch", "--kind", text, "--pid", script};
        if (!signal.empty()) words.insert(words.end(), {"--signal", signal});
        const auto started =
            base::start_program(std::move(words), {nowhere.get(), base::Start::Errors::as_ours, environment});
        ::_exit(started ? 0 : 1);
    }
    int status = -1;
    if (between > 0)
        while (::waitpid(between, &status, 0) < 0 && errno == EINTR) {}
    if (status != 0)
        slurm_error("ckpt-kind: %s cannot be started: no checkpoint is reported", railckpt.c_str());
}

} // namespace spank
