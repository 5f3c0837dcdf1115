#include "restart/web/page_files.hpp"

#include "base/file.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace restart {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_bytes = 1 << 20;

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> content_types{
    {{".html", "text/html; charset=utf-8"},
     {".js", "text/javascript; charset=utf-8"},
     {".css", "text/css; charset=utf-8"},
     {".svg", "image/svg+xml"}}};

// A browser runs and loads nothing but the page's own files, whatever a name from the cluster contains, and
// shows the page in no frame of another. Files are asked for again after an upgrade.
std::vector<std::pair<std::string, std::string>> page_headers() {
    return {{"Content-Security-Policy",
             "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
             "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
            {"X-Content-Type-Options", "nosniff"},
            {"Referrer-Policy", "no-referrer"},
            {"Cache-Control", "no-cache"}};
}

std::string_view content_type_of(const fs::path& path) {
    for (const auto& [suffix, type] : content_types)
        if (path.extension() == suffix) return type;
    return {};
}

} // namespace

base::Expected<PageFiles> PageFiles::read(const fs::path& folder) {
    PageFiles page;
    std::error_code failed;
    for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
         entry.increment(failed)) {
        const auto type = content_type_of(entry->path());
        if (type.empty()) continue;
        auto text = base::read_file(entry->path(), most_bytes);
        if (!text) return std::move(text).error();
        const auto name = entry->path().filename().string();
        const auto path = name == "index.html" ? std::string("/") : "/web/" + name;
        page.files_[path] = {200, *std::move(text), std::string(type), {}, page_headers()};
    }
    if (failed) return base::Error{base::Code::io, fmt::format("{}: {}", folder.string(), failed.message())};
    if (!page.files_.contains("/"))
        return base::Error{base::Code::not_found, fmt::format("{}: there is no index.html", folder.string())};
    return page;
}

const HttpResponse* PageFiles::find(std::string_view path) const {
    const auto found = files_.find(path);
    return found == files_.end() ? nullptr : &found->second;
}

} // namespace restart
