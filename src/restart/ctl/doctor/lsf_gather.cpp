#include "restart/ctl/doctor/lsf.hpp"

#include "base/child.hpp"
#include "base/file.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <sstream>
#include <unistd.h>

namespace restart::doctor {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr base::Duration lsf_within = 10s;
constexpr std::size_t longest_file = std::size_t{16} << 20;
constexpr std::string_view blanks = " \t\r";

std::string trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return std::string(text.substr(first, text.find_last_not_of(blanks) - first + 1));
}

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < text.size();) {
        const auto end = std::min(text.find('\n', begin), text.size());
        lines.push_back(trimmed(text.substr(begin, end - begin)));
        begin = end + 1;
    }
    return lines;
}

std::vector<std::string> words_of(const std::string& line) {
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;)
        words.push_back(word);
    return words;
}

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

// The rest of the line that contains these words: lsid's "My cluster name is yard".
std::string after(std::string_view text, std::string_view words) {
    const auto at = text.find(words);
    if (at == std::string_view::npos) return {};
    const auto rest = text.substr(at + words.size());
    return trimmed(rest.substr(0, rest.find('\n')));
}

class Asking {
public:
    explicit Asking(Facts& facts) : facts_(facts), lsf_(facts.lsf) {}

    void all() {
        read_conf();
        find_esub();
        const auto id = output({"lsid"});
        if (!id) {
            lsf_.error = id.error().text;
            return;
        }
        read_cluster(*id);
        auto names = facts_.conf.lsf.parking_queues;
        names.push_back(facts_.conf.lsf.run_queue);
        for (const auto& name : names) {
            const auto shown = output({"bqueues", "-l", name});
            lsf_.queues[name] = shown ? parse_queue(*shown) : LsfQueue{shown.error().text, {}, {}, false};
        }
        if (const auto shown = output({"bparams", "-l"})) add_timing(parse_parameters(*shown));
        if (const auto shown = output({"lsload", "-l"})) {
            lsf_.planned = parse_index(*shown, "planned");
            lsf_.has_planned = !lsf_.planned.empty();
        }
        if (const auto shown = output({"bhosts", "-w"})) read_hosts(*shown, after(*id, "My master name is "));
    }

private:
    // With LSF's message if it refuses.
    base::Expected<std::string> output(std::vector<std::string> words) const {
        const auto name = words.front();
        if (!facts_.conf.lsf.bindir.empty()) words.front() = facts_.conf.lsf.bindir + "/" + name;
        auto ended = base::run_to_end(std::move(words), lsf_within);
        if (!ended) return ended.error();
        if (ended->status == 0) return std::move(ended->output);
        const auto said = trimmed(ended->output.substr(0, ended->output.find('\n')));
        return base::Error{
            base::Code::unavailable,
            fmt::format("{}: {}", name, said.empty() ? fmt::format("status {}", ended->status) : said)};
    }

    void add_timing(const std::map<std::string, std::string>& more) {
        for (const auto& [key, value] : more)
            lsf_.timing.emplace(key, value);
    }

    void read_conf() {
        const auto folder = variable("LSF_ENVDIR");
        lsf_.conf_path = (folder.empty() ? "/etc" : folder) + "/lsf.conf";
        const auto text = base::read_file(lsf_.conf_path, longest_file);
        if (!text) {
            lsf_.conf_error = text.error().text;
            return;
        }
        lsf_.conf = parse_parameters(*text);
        if (const auto found = lsf_.conf.find("LSB_MBD_CONNTIMEOUT"); found != lsf_.conf.end())
            lsf_.timing.insert(*found);
    }

    void find_esub() {
        auto folder = variable("LSF_SERVERDIR");
        if (const auto found = lsf_.conf.find("LSF_SERVERDIR"); folder.empty() && found != lsf_.conf.end())
            folder = found->second;
        if (folder.empty()) return;
        lsf_.esub = folder + "/esub.rail";
        lsf_.esub_runs = ::access(lsf_.esub.c_str(), X_OK) == 0;
    }

    void read_cluster(std::string_view id) {
        const auto name = after(id, "My cluster name is ");
        if (name.empty()) {
            lsf_.cluster_error = "lsid does not say the cluster's name";
            return;
        }
        const auto named = lsf_.conf.find("LSF_CONFDIR");
        const auto folder =
            named == lsf_.conf.end() ? fs::path(lsf_.conf_path).parent_path() : fs::path(named->second);
        const auto text = base::read_file(folder / ("lsf.cluster." + name), longest_file);
        if (text)
            add_timing(parse_parameters(parameters_section(*text)));
        else
            lsf_.cluster_error = text.error().text;
    }

    // Only hosts that run jobs: the master has a row as well.
    void read_hosts(const std::string& text, const std::string& master) {
        std::set<std::string> names;
        for (const auto& line : lines_of(text)) {
            const auto words = words_of(line);
            if (words.size() > 3 && words[0] != "HOST_NAME" && words[3] != "0" && words[0] != master)
                names.insert(words[0]);
        }
        facts_.nodes.assign(names.begin(), names.end());
    }

    Facts& facts_;
    LsfFacts& lsf_;
};

} // namespace

LsfQueue parse_queue(std::string_view text) {
    LsfQueue queue;
    for (const auto& line : lines_of(text)) {
        const auto colon = line.find(':');
        if (colon == std::string::npos) continue;
        const auto key = trimmed(std::string_view(line).substr(0, colon));
        const auto value = trimmed(std::string_view(line).substr(colon + 1));
        if (key == "RES_REQ") queue.res_req = value;
        if (key == "USERS") queue.users = value;
        if (key == "RERUNNABLE") queue.rerunnable = value == "yes";
    }
    return queue;
}

std::map<std::string, std::string> parse_parameters(std::string_view text) {
    std::map<std::string, std::string> found;
    for (const auto& line : lines_of(text)) {
        const auto equals = line.find('=');
        if (equals == std::string::npos || line.starts_with('#')) continue;
        const auto key = trimmed(std::string_view(line).substr(0, equals));
        auto value = trimmed(std::string_view(line).substr(equals + 1));
        const bool quoted = value.starts_with('"');
        if (quoted) value.erase(0, 1);
        value = value.substr(0, value.find_first_of(quoted ? "\"" : " \t#"));
        if (!key.empty() && key.find_first_of(blanks) == std::string::npos)
            found.insert_or_assign(key, value);
    }
    return found;
}

std::string parameters_section(std::string_view cluster_file) {
    std::string section;
    bool within = false;
    for (const auto& line : lines_of(cluster_file)) {
        const auto words = words_of(line);
        if (words.size() == 2 && words[0] == "Begin") within = words[1] == "Parameters";
        if (!words.empty() && words[0] == "End") within = false;
        if (within) section += line + "\n";
    }
    return section;
}

std::map<std::string, std::string> parse_index(std::string_view text, std::string_view name) {
    std::map<std::string, std::string> values;
    std::size_t column = 0; // 0 is the host's
    std::size_t columns = 0;
    for (const auto& line : lines_of(text)) {
        const auto words = words_of(line);
        if (words.empty()) continue;
        if (words[0] == "HOST_NAME") {
            columns = words.size();
            column = static_cast<std::size_t>(std::find(words.begin(), words.end(), name) - words.begin());
            continue;
        }
        if (column == 0 || column >= columns) continue;
        // A host that is away shows only its state.
        values[words[0]] = words.size() == columns ? words[column] : "";
    }
    return values;
}

void ask_lsf(Facts& facts) {
    Asking(facts).all();
}

} // namespace restart::doctor
