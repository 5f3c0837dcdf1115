#include "restart/rm/slurm_submission.hpp"

#include "base/file.hpp"
#include "base/units.hpp"
#include "restart/rm/slurm_reading.hpp"
#include "sched/ask/hints.hpp"
#include "sched/slurm/admin_comment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

namespace restart {
namespace {

using base::Code;
using base::Error;
using base::Expected;

constexpr std::string_view first_line = "railyard-submission=1";
constexpr std::string_view environment_key = "environment", script_key = "script";

// Variables of sbatch's environment that it also passes to prologs, for SPANK plugins (sbatch.c).
constexpr std::string_view plugins_prefix = "SLURM_SPANK_";

// The texts that a record and a submission share: name, of the record, of the submission.
template <class Visit> void each_text(Visit visit) {
    using Job = job_info_t;
    using New = job_desc_msg_t;
    visit("account", &Job::account, &New::account);
    visit("admin_comment", &Job::admin_comment, &New::admin_comment);
    visit("batch_features", &Job::batch_features, &New::batch_features);
    visit("cluster_features", &Job::cluster_features, &New::cluster_features);
    visit("comment", &Job::comment, &New::comment);
    visit("container", &Job::container, &New::container);
    visit("cpus_per_tres", &Job::cpus_per_tres, &New::cpus_per_tres);
    visit("exc_nodes", &Job::exc_nodes, &New::exc_nodes);
    visit("features", &Job::features, &New::features);
    visit("licenses", &Job::licenses, &New::licenses);
    visit("mail_user", &Job::mail_user, &New::mail_user);
    visit("mcs_label", &Job::mcs_label, &New::mcs_label);
    visit("mem_per_tres", &Job::mem_per_tres, &New::mem_per_tres);
    visit("name", &Job::name, &New::name);
    visit("network", &Job::network, &New::network);
    visit("partition", &Job::partition, &New::partition);
    visit("qos", &Job::qos, &New::qos);
    visit("req_nodes", &Job::req_nodes, &New::req_nodes);
    visit("reservation", &Job::resv_name, &New::reservation);
    visit("std_err", &Job::std_err, &New::std_err);
    visit("std_in", &Job::std_in, &New::std_in);
    visit("std_out", &Job::std_out, &New::std_out);
    visit("tres_bind", &Job::tres_bind, &New::tres_bind);
    visit("tres_freq", &Job::tres_freq, &New::tres_freq);
    visit("tres_per_job", &Job::tres_per_job, &New::tres_per_job);
    visit("tres_per_node", &Job::tres_per_node, &New::tres_per_node);
    visit("tres_per_socket", &Job::tres_per_socket, &New::tres_per_socket);
    visit("tres_per_task", &Job::tres_per_task, &New::tres_per_task);
    visit("wckey", &Job::wckey, &New::wckey);
    visit("work_dir", &Job::work_dir, &New::work_dir);
}

// The numbers in the same form.
template <class Visit> void each_number(Visit visit) {
    using Job = job_info_t;
    using New = job_desc_msg_t;
    visit("contiguous", &Job::contiguous, &New::contiguous);
    visit("core_spec", &Job::core_spec, &New::core_spec);
    visit("cores_per_socket", &Job::cores_per_socket, &New::cores_per_socket);
    visit("cpu_freq_gov", &Job::cpu_freq_gov, &New::cpu_freq_gov);
    visit("cpu_freq_max", &Job::cpu_freq_max, &New::cpu_freq_max);
    visit("cpu_freq_min", &Job::cpu_freq_min, &New::cpu_freq_min);
    visit("cpus_per_task", &Job::cpus_per_task, &New::cpus_per_task);
    visit("deadline", &Job::deadline, &New::deadline);
    visit("gid", &Job::group_id, &New::group_id);
    visit("mail_type", &Job::mail_type, &New::mail_type);
    visit("max_nodes", &Job::max_nodes, &New::max_nodes);
    visit("min_nodes", &Job::num_nodes, &New::min_nodes);
    visit("nice", &Job::nice, &New::nice);
    visit("ntasks_per_board", &Job::ntasks_per_board, &New::ntasks_per_board);
    visit("ntasks_per_core", &Job::ntasks_per_core, &New::ntasks_per_core);
    visit("ntasks_per_node", &Job::ntasks_per_node, &New::ntasks_per_node);
    visit("ntasks_per_socket", &Job::ntasks_per_socket, &New::ntasks_per_socket);
    visit("ntasks_per_tres", &Job::ntasks_per_tres, &New::ntasks_per_tres);
    visit("num_tasks", &Job::num_tasks, &New::num_tasks);
    visit("pn_min_cpus", &Job::pn_min_cpus, &New::pn_min_cpus);
    visit("pn_min_memory", &Job::pn_min_memory, &New::pn_min_memory);
    visit("pn_min_tmp_disk", &Job::pn_min_tmp_disk, &New::pn_min_tmp_disk);
    visit("profile", &Job::profile, &New::profile);
    visit("req_switch", &Job::req_switch, &New::req_switch);
    visit("shared", &Job::shared, &New::shared);
    visit("sockets_per_node", &Job::sockets_per_node, &New::sockets_per_node);
    visit("threads_per_core", &Job::threads_per_core, &New::threads_per_core);
    visit("time_limit", &Job::time_limit, &New::time_limit);
    visit("time_min", &Job::time_min, &New::time_min);
    visit("uid", &Job::user_id, &New::user_id);
    visit("wait4switch", &Job::wait4switch, &New::wait4switch);
}

// Only in these few is 0 a real value.
bool may_be_zero(std::string_view name) {
    return name == "shared" || name == "pn_min_memory" || name == "nice" || name == "uid" || name == "gid";
}

template <class Number> bool is_set(std::string_view name, Number value) {
    if (value == 0) return may_be_zero(name);
    if constexpr (sizeof(Number) == 2)
        return value != NO_VAL16 && value != INFINITE16;
    else if constexpr (sizeof(Number) == 4)
        return value != NO_VAL && (value != INFINITE || name == "time_limit");
    else
        return std::is_signed_v<Number> || value != static_cast<Number>(NO_VAL64);
}

// The script's path and arguments, which slurmctld joins by blanks (pack_job in job_mgr.c).
std::vector<std::string> split_command(std::string_view line) {
    std::vector<std::string> words;
    while (!line.empty()) {
        const auto end = std::min(line.find(' '), line.size());
        words.emplace_back(line.substr(0, end));
        line.remove_prefix(std::min(end + 1, line.size()));
    }
    return words;
}

// Whether an argument was empty, or certainly contained white space.
bool is_ambiguous(std::string_view line) {
    return line.find_first_of("\t\n\r") != std::string_view::npos ||
           line.find("  ") != std::string_view::npos || line.starts_with(' ') || line.ends_with(' ');
}

std::string why_incomplete(const job_info_t& job) {
    if (job.array_job_id != 0) return "tasks of an array are not submitted again one by one";
    if (job.het_job_id != 0) return "heterogeneous jobs are not submitted again";
    if (!text_of(job.burst_buffer).empty()) return "its burst buffer may be gone";
    if (!text_of(job.cronspec).empty()) return "scrontab starts it";
    if (is_ambiguous(text_of(job.command)))
        return "slurmctld does not say how its script's arguments are parted";
    return {};
}

// As slurmctld writes it: their number, and each followed by a NUL (_write_data_array_to_file in job_mgr.c).
Expected<std::vector<std::string>> parse_environment(std::string_view bytes, const std::string& path) {
    const Error bad{Code::input, path + ": is no environment as slurmctld writes it"};
    std::uint32_t count = 0;
    if (bytes.size() < sizeof count) return bad;
    std::memcpy(&count, bytes.data(), sizeof count);
    bytes.remove_prefix(sizeof count);
    if (count > bytes.size()) return bad;
    std::vector<std::string> variables;
    variables.reserve(count);
    for (; count > 0; --count) {
        const auto end = bytes.find('\0');
        if (end == std::string_view::npos) return bad;
        variables.emplace_back(bytes.substr(0, end));
        bytes.remove_prefix(end + 1);
    }
    return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (auto& text : texts)
        pointers.push_back(text.data());
    return pointers;
}

// Of SPANK plugins; not our own flags, which admin_comment holds.
std::vector<std::string> variables_of_plugins(const std::vector<std::string>& environment) {
    std::vector<std::string> found;
    for (std::string_view variable : environment) {
        if (!variable.starts_with(plugins_prefix)) continue;
        variable.remove_prefix(plugins_prefix.size());
        const auto flags = sched::hint_flags();
        if (std::none_of(flags.begin(), flags.end(), [&](const auto flag) {
                return variable.starts_with(std::string(sched::hint_variable(flag)) + '=');
            }))
            found.emplace_back(variable);
    }
    return found;
}

} // namespace

std::string SlurmSubmission::word(std::string_view name) const {
    const auto found = words.find(name);
    return found == words.end() ? std::string() : found->second;
}

std::uint64_t SlurmSubmission::number(std::string_view name) const {
    const auto found = words.find(name);
    const auto value = found == words.end() ? Expected<std::uint64_t>(0) : base::parse_count(found->second);
    return value ? *value : 0;
}

SlurmSubmission submission_of(const job_info_t& job) {
    SlurmSubmission kept;
    const auto put = [&](std::string_view name, std::string value) {
        if (!value.empty()) kept.words.insert_or_assign(std::string(name), std::move(value));
    };
    each_text([&](std::string_view name, auto of_job, auto) { put(name, text_of(job.*of_job)); });
    each_number([&](std::string_view name, auto of_job, auto) {
        if (is_set(name, job.*of_job)) put(name, std::to_string(job.*of_job));
    });
    put("job", std::to_string(job.job_id));
    put("epoch", std::to_string(job.restart_cnt));
    put("submitted", std::to_string(job.submit_time));
    put("started", std::to_string(job.start_time));
    put("nodes", text_of(job.nodes));
    put("cpus", std::to_string(job.num_cpus));
    if (job.array_job_id != 0) {
        put("array_job", std::to_string(job.array_job_id));
        put("array_task", std::to_string(job.array_task_id));
    }
    if (auto command = text_of(job.command); command != "(null)") put("command", std::move(command));
    if (kept.word("wckey").starts_with('*')) kept.words.erase("wckey"); // the default, which it gets again
    put("why_not", why_incomplete(job));
    return kept;
}

Expected<void> read_files(SlurmSubmission& job, const std::string& state_save_location, std::size_t most) {
    const auto number = job.number("job");
    const auto folder = fmt::format("{}/hash.{}/job.{}", state_save_location, number % 10, number);
    auto script = base::read_file(folder + "/script", most);
    if (!script) return std::move(script).error();
    const auto bytes = base::read_file(folder + "/environment", most - script->size());
    if (!bytes) return bytes.error();
    auto environment = parse_environment(*bytes, folder + "/environment");
    if (!environment) return std::move(environment).error();
    job.script = script->substr(0, script->find('\0'));
    job.environment = *std::move(environment);
    return {};
}

std::string to_text(const SlurmSubmission& job) {
    std::string text(first_line);
    const auto put = [&](std::string_view key, std::string_view value) {
        text += '\0';
        text.append(key).append(1, '=').append(value);
    };
    for (const auto& [name, value] : job.words)
        put(name, value);
    for (const auto& variable : job.environment)
        put(environment_key, variable);
    if (!job.script.empty()) put(script_key, job.script);
    text += '\0';
    return text;
}

Expected<SlurmSubmission> parse_submission(std::string_view text) {
    const Error bad{Code::input, "is no submission that restartd kept"};
    SlurmSubmission job;
    for (bool first = true; !text.empty(); first = false) {
        const auto end = text.find('\0');
        const auto line = text.substr(0, end);
        const auto parted = line.find('=');
        if (end == std::string_view::npos || parted == std::string_view::npos ||
            (first && line != first_line))
            return bad;
        text.remove_prefix(end + 1);
        if (first) continue;
        const auto key = line.substr(0, parted), value = line.substr(parted + 1);
        if (key == environment_key)
            job.environment.emplace_back(value);
        else if (key == script_key)
            job.script = value;
        else
            job.words.emplace(key, value);
    }
    if (job.number("job") == 0 || job.number("job") >= NO_VAL) return bad;
    return job;
}

job_info_t record_of(SlurmSubmission& job) {
    job_info_t record;
    std::memset(&record, 0, sizeof record);
    each_text([&](std::string_view name, auto of_job, auto) {
        if (const auto found = job.words.find(name); found != job.words.end())
            record.*of_job = found->second.data();
    });
    each_number([&](std::string_view name, auto of_job, auto) {
        record.*of_job = static_cast<std::remove_reference_t<decltype(record.*of_job)>>(job.number(name));
    });
    record.job_id = static_cast<std::uint32_t>(job.number("job"));
    record.restart_cnt = static_cast<std::uint16_t>(job.number("epoch"));
    record.start_time = static_cast<std::time_t>(job.number("started"));
    record.array_job_id = static_cast<std::uint32_t>(job.number("array_job"));
    record.array_task_id =
        record.array_job_id != 0 ? static_cast<std::uint32_t>(job.number("array_task")) : NO_VAL;
    record.batch_flag = record.requeue = 1;
    record.job_state = JOB_FAILED;
    return record;
}

SlurmDescription::SlurmDescription(SlurmSubmission& job)
    : arguments_(split_command(job.word("command"))), of_plugins_(variables_of_plugins(job.environment)),
      argv_(pointers_to(arguments_)), environment_(pointers_to(job.environment)),
      plugins_(pointers_to(of_plugins_)) {
    slurm_init_job_desc_msg(&raw);
    each_text([&](std::string_view name, auto, auto to) {
        if (const auto found = job.words.find(name); found != job.words.end()) raw.*to = found->second.data();
    });
    each_number([&](std::string_view name, auto, auto to) {
        if (job.words.contains(name))
            raw.*to = static_cast<std::remove_reference_t<decltype(raw.*to)>>(job.number(name));
    });
    // As sbatch does; what slurmctld shows for a running job is what it was given.
    const auto cpus = job.number("num_tasks") * std::max<std::uint64_t>(1, job.number("cpus_per_task"));
    if (cpus != 0 && cpus <= job.number("cpus")) raw.min_cpus = static_cast<std::uint32_t>(cpus);
    if (const auto hints = sched::parse_comment(job.word("admin_comment")); hints && hints->no_kill)
        raw.kill_on_node_fail = 0;
    raw.requeue = 1;
    raw.open_mode = OPEN_MODE_APPEND; // its earlier output is not lost
    raw.script = job.script.data();
    raw.environment = environment_.data();
    raw.env_size = static_cast<std::uint32_t>(environment_.size());
    raw.spank_job_env = plugins_.data();
    raw.spank_job_env_size = static_cast<std::uint32_t>(plugins_.size());
    raw.argv = argv_.data();
    raw.argc = static_cast<std::uint32_t>(argv_.size());
}

} // namespace restart
