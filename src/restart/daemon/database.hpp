// SQLite as the journal uses it: a connection and prepared statements that end with their owners.
//
// Errors carry SQLite's text; Code::unavailable for what may pass (disk full, locked, I/O errors),
// Code::input for a file that is damaged or not a database. One thread at a time.
#pragma once

#include "base/expected.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace restart {

class Statement {
public:
    // Parameters count from 1, columns from 0, as in SQLite. Texts are copied.
    Statement& bind(int parameter, std::string_view text);
    Statement& bind(int parameter, std::int64_t number);
    Statement& bind_bytes(int parameter, std::string_view bytes);

    // True: a row is ready; false: done.
    base::Expected<bool> step();
    // To the end, skipping rows; afterwards the statement can be bound and run again.
    base::Expected<void> run();

    std::string text(int column) const;
    std::string bytes(int column) const;
    std::int64_t number(int column) const;

private:
    friend class Database;
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const;
    };
    explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Database {
public:
    enum class Open { existing, create, reading };
    static base::Expected<Database> open(const std::filesystem::path& path, Open mode);

    // One or more statements without results.
    base::Expected<void> execute(const std::string& sql);
    base::Expected<Statement> prepare(std::string_view sql);
    // The first column of the first row; an empty text if there is no row.
    base::Expected<std::string> value(std::string_view sql);

private:
    struct Close {
        void operator()(sqlite3* handle) const;
    };
    explicit Database(sqlite3* handle) : handle_(handle) {}
    std::unique_ptr<sqlite3, Close> handle_;
};

} // namespace restart
