#include "restart/daemon/database.hpp"

#include <sqlite3.h>

namespace restart {
namespace {

base::Error error_of(sqlite3* handle, int status) {
    const int primary = status & 0xff;
    std::string text = handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(status);
    switch (primary) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
    case SQLITE_FORMAT: return {base::Code::input, std::move(text)};
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_READONLY:
    case SQLITE_NOMEM: return {base::Code::unavailable, std::move(text)};
    case SQLITE_CANTOPEN:
    case SQLITE_PERM: return {base::Code::io, std::move(text)};
    default: return {base::Code::internal, std::move(text)};
    }
}

} // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
    sqlite3_finalize(statement);
}

Statement& Statement::bind(int parameter, std::string_view text) {
    sqlite3_bind_text64(statement_.get(), parameter, text.data() == nullptr ? "" : text.data(), text.size(),
                        SQLITE_TRANSIENT, SQLITE_UTF8);
    return *this;
}

Statement& Statement::bind(int parameter, std::int64_t number) {
    sqlite3_bind_int64(statement_.get(), parameter, number);
    return *this;
}

Statement& Statement::bind_bytes(int parameter, std::string_view bytes) {
    sqlite3_bind_blob64(statement_.get(), parameter, bytes.data() == nullptr ? "" : bytes.data(),
                        bytes.size(), SQLITE_TRANSIENT);
    return *this;
}

base::Expected<bool> Statement::step() {
    const int status = sqlite3_step(statement_.get());
    if (status == SQLITE_ROW) return true;
    if (status == SQLITE_DONE) return false;
    auto error = error_of(sqlite3_db_handle(statement_.get()), status);
    sqlite3_reset(statement_.get());
    return error;
}

base::Expected<void> Statement::run() {
    for (;;) {
        const auto row = step();
        if (!row) return row.error();
        if (!*row) break;
    }
    sqlite3_reset(statement_.get());
    return {};
}

std::string Statement::text(int column) const {
    const auto* bytes = sqlite3_column_text(statement_.get(), column);
    if (bytes == nullptr) return {};
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
    return {static_cast<const char*>(static_cast<const void*>(bytes)), size};
}

std::string Statement::bytes(int column) const {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
    if (bytes == nullptr) return {};
    return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

std::int64_t Statement::number(int column) const {
    return sqlite3_column_int64(statement_.get(), column);
}

void Database::Close::operator()(sqlite3* handle) const {
    sqlite3_close_v2(handle);
}

base::Expected<Database> Database::open(const std::filesystem::path& path, Open mode) {
    sqlite3* handle = nullptr;
    const int flags = (mode == Open::reading ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) |
                      SQLITE_OPEN_FULLMUTEX | (mode == Open::create ? SQLITE_OPEN_CREATE : 0);
    const int status = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
    Database database(handle); // even after an error there may be a handle to close
    if (status != SQLITE_OK) return error_of(handle, status);
    sqlite3_extended_result_codes(handle, 1);
    return database;
}

base::Expected<void> Database::execute(const std::string& sql) {
    const int status = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
    if (status != SQLITE_OK) return error_of(handle_.get(), status);
    return {};
}

base::Expected<Statement> Database::prepare(std::string_view sql) {
    sqlite3_stmt* statement = nullptr;
    const int status =
        sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
    if (status != SQLITE_OK) return error_of(handle_.get(), status);
    return Statement(statement);
}

base::Expected<std::string> Database::value(std::string_view sql) {
    auto statement = prepare(sql);
    if (!statement) return std::move(statement).error();
    const auto row = statement->step();
    if (!row) return row.error();
    return *row ? statement->text(0) : std::string();
}

} // namespace restart
