#include "base/table.hpp"

#include <catch2/catch.hpp>

TEST_CASE("a table's columns fit their widest cell") {
    base::Table table({"HOST", "FREE"});
    table.align(1, base::Table::Align::right);
    table.add({"n001", "1"});
    table.add({"µ", "1000"});
    CHECK(table.print() == "HOST  FREE\nn001     1\nµ     1000\n");
}

TEST_CASE("on a narrow terminal the widest columns of a table go on below") {
    base::Table table({"HOST", "FINDINGS", "REASON"});
    table.add({"n001", "ib.link_down on mlx5_[0-7]:1 (evict)", "railyard[i-7]: all links are down"});
    table.add({"n002", "n[001-004],n[011-014],n[021-024]", ""});
    CHECK(table.print({.columns = 44}) == "HOST  FINDINGS            REASON\n"
                                          "n001  ib.link_down on     railyard[i-7]: all\n"
                                          "      mlx5_[0-7]:1        links are down\n"
                                          "      (evict)\n"
                                          "n002  n[001-004],\n"
                                          "      n[011-014],\n"
                                          "      n[021-024]\n");
    CHECK(table.print({.columns = 200}) == table.print());
}

TEST_CASE("a table is no narrower than its columns can be, and cuts no character in two") {
    base::Table table({"A", "B"});
    table.add({"µµµµµµµµµµ", "x"});
    CHECK(table.print({.columns = 1}) == "A         B\nµµµµµµµµ  x\nµµ\n");
}

TEST_CASE("tables that follow each other have columns of the same widths") {
    base::Table first({"TIME", "WHAT"}), next({"TIME", "WHAT"});
    for (auto* table : {&first, &next})
        table->at_least({6});
    first.add({"1", "a"});
    next.add({"12345", "b"});
    CHECK(first.print() + next.print_rows() == "TIME    WHAT\n1       a\n12345   b\n");
}

TEST_CASE("colours are around whole lines, and only where there are colours") {
    base::Table table({"A"});
    table.add({"x"}, base::Tint::bad);
    table.add({"y"}, base::Tint::doubtful);
    CHECK(table.print() == "A\nx\ny\n");
    CHECK(table.print({.colour = true}) == "\033[1mA\033[0m\n\033[31mx\033[0m\n\033[33my\033[0m\n");
}
