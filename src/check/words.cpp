#include "check/words.hpp"

namespace check {

void add_level(base::Words& words, int& level, const std::string& about) {
    words.add_option("--level", level, about)->range(1, 3)->capture_default_str();
}

void add_config(base::Words& words, std::string& path) {
    words.add_option("--config", path, "Configuration file (railyard.conf(5))")->type_name("FILE");
}

void add_rules(base::Words& words, std::string& path) {
    words
        .add_option(
            "--rules", path,
            "Rules and expectations (health.conf(5)); default: health.conf beside the configuration file")
        ->type_name("FILE");
}

void add_fabric(base::Words& words, std::string& path) {
    words
        .add_option("--fabric", path,
                    "Fabric file (fabric.json(5)), which knows the rails and the names of leaves")
        ->type_name("FILE");
}

void add_nvml(base::Words& words, std::string& library) {
    words.add_option("--nvml", library, "NVIDIA's management library; for selftest a double of it")
        ->type_name("LIBRARY");
}

void add_libraries(base::Words& words, std::vector<std::string>& paths) {
    words
        .add_option("--library", paths,
                    "A library of CUDA or NCCL to load instead of the installed one; for selftest a double; "
                    "may be repeated")
        ->repeatable()
        ->type_name("PATH");
}

void add_json(base::Words& words, bool& as_json) {
    words.add_flag("--json", as_json, "Print JSON");
}

} // namespace check
