#include "base/cli.hpp"

#include <catch2/catch.hpp>

#include <iostream>
#include <sstream>

TEST_CASE("help fits a terminal of 80 columns, and says all of it") {
    const std::string about =
        "What this option does is told in so many words that no terminal has room for all "
        "of them beside the name";
    base::Cli cli("program", about + ", and the program says as much of itself.", "program(1)");
    std::string value;
    bool flag = false;
    cli->add_option("--value", value, about);
    cli->add_flag("--a-name-that-is-longer-than-its-column", flag, about);
    cli->add_option("--unbroken", value, std::string(100, 'x'));
    std::ostringstream out;
    auto* const before = std::cout.rdbuf(out.rdbuf());
    char program[] = "program", help[] = "--help";
    char* words[] = {program, help, nullptr};
    int status = -1;
    const bool goes_on = cli.parse(2, words, status);
    std::cout.rdbuf(before);
    CHECK_FALSE(goes_on);
    CHECK(status == base::exit_done);
    std::istringstream lines(out.str());
    std::string all;
    for (std::string line; std::getline(lines, line);) {
        INFO(line);
        CHECK((line.size() <= 80 || line.find(std::string(100, 'x')) != std::string::npos));
        const auto first = line.find_first_not_of(' ');
        all += " " + (first == std::string::npos ? "" : line.substr(first));
    }
    CHECK(all.find(about) != std::string::npos);
    CHECK(all.find("--unbroken") != std::string::npos);
}
