// The files of the web page, read once from the folder in which they are installed: a request's path is
// compared with their names and never reaches the file system.
#pragma once

#include "base/expected.hpp"
#include "restart/wire/http.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace restart {

class PageFiles {
public:
    PageFiles() = default; // none

    // Errors: there is no such folder, no index.html in it, or one of its files cannot be read or is larger
    // than 1 MiB. Files that are no part of a page (by their suffix) are ignored.
    static base::Expected<PageFiles> read(const std::filesystem::path& folder);

    // The page itself at "/", its other files at "/web/NAME"; null: nothing is there.
    const HttpResponse* find(std::string_view path) const;

private:
    std::map<std::string, HttpResponse, std::less<>> files_; // by path
};

} // namespace restart
