#include "base/table.hpp"

#include <catch2/catch.hpp>

TEST_CASE("a table's columns fit their widest cell") {
    base::Table table({"HOST", "FREE"});
    table.align(1, base::Table::Align::right);
    table.add({"n001", "1"});
    table.add({"µ", "1000"});
    CHECK(table.print() == "HOST  FREE\nn001     1\nµ     1000\n");
}
