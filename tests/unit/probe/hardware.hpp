// A host's hardware for tests, made of the doubles: a generated sysfs tree, GPUs by the state file of the
// NVML double, a kernel log.
#pragma once

#include "unit/folder.hpp"
#include "unit/source.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace test {

class Hardware {
public:
    explicit Hardware(int hcas) {
        make(hcas);
        gpus("count=8\n");
        log("");
        ::setenv("RAIL_NVML_STATE", state().c_str(), 1);
    }

    std::filesystem::path sysfs() const { return folder_.path / "sys"; }
    std::filesystem::path kmsg() const { return folder_.path / "kmsg"; }
    // Built beside the tests; make check runs in the build directory.
    static std::string nvml() {
        return std::filesystem::absolute("tests/doubles/libnvidia-ml.so.1").string();
    }

    void make(int hcas) const { generate("--host n001 --hcas " + std::to_string(hcas)); }
    void set(const std::vector<std::string>& assignments) const {
        std::string options;
        for (const auto& assignment : assignments)
            options += " --set " + assignment;
        generate(options);
    }
    void remove(const std::string& device) const { generate("--remove " + device); }
    void write(const std::string& path, std::string_view text) const {
        std::ofstream(sysfs() / path, std::ios::trunc) << text;
    }

    // Replaces all that NVML says: "3.reasons=0x80\n".
    void gpus(std::string_view text) const {
        const auto fresh = folder_.path / "nvml.new";
        std::ofstream(fresh, std::ios::trunc) << text;
        std::filesystem::rename(fresh, state());
    }
    void log(std::string_view line) const { std::ofstream(kmsg(), std::ios::app) << line; }

private:
    std::filesystem::path state() const { return folder_.path / "nvml"; }
    void generate(const std::string& options) const {
        const auto command = "python3 " + source("tests/doubles/gen_sysfs.py").string() + " " +
                             sysfs().string() + " " + options;
        if (std::system(command.c_str()) != 0) throw std::runtime_error(command);
    }

    Folder folder_;
};

} // namespace test
