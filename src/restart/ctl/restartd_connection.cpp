#include "restart/ctl/restartd_connection.hpp"

#include "base/conf.hpp"
#include "base/host_port.hpp"
#include "restart/wire/operator.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iostream>
#include <thread>
#include <utility>
#include <vector>

namespace restart {
namespace {

using base::Code;
using base::Error;
using base::Expected;

constexpr unsigned busy = 429;
constexpr int most_tries = 10; // a second apart

Code code_of(unsigned status) {
    switch (status) {
    case 400: return Code::input;
    case 401:
    case 403: return Code::denied;
    case 404: return Code::not_found;
    case 409: return Code::unfit;
    default: return Code::unavailable;
    }
}

Expected<std::string> judge(Expected<HttpResponse> answer) {
    if (!answer) {
        auto& error = answer.error();
        if (error.text.starts_with("http"))
            error.text += ": is restartd running there (--url, [restartd] url)?";
        return std::move(error);
    }
    if (answer->status < 300) return std::move(answer->body);
    const auto refused = Refused::from_json(answer->body);
    return Error{code_of(answer->status),
                 refused
                     ? fmt::format("restartd: {}", refused->text)
                     : fmt::format("restartd: answered {} and no reason: does another server stand there?",
                                   answer->status)};
}

} // namespace

Expected<RestartdConnection> RestartdConnection::find(const std::string& config, const std::string& url) {
    using Table = base::ConfTable;
    const auto needs =
        url.empty() ? base::ConfTables{Table::restartd, Table::munge} : base::ConfTables{Table::munge};
    const auto conf = base::load_conf(config, needs);
    if (!conf) return conf.error();
    const auto urls = url.empty() ? conf->restartd.url : std::vector{url};
    auto open = HttpClient::make(urls);
    if (!open) return std::move(open).error().within(url.empty() ? "[restartd] url" : "--url");
    auto signing = HttpClient::make(urls, MungeAuth(conf->munge.socket, conf->restartd.user));
    const bool loopback = std::all_of(
        urls.begin(), urls.end(), [](const std::string& one) { return base::parse_url(one)->is_loopback(); });
    return RestartdConnection(loopback, *std::move(open), *std::move(signing));
}

Expected<std::string> RestartdConnection::get(const std::string& target) {
    auto answer = signing_.request("GET", target, "", patience);
    for (int tries = 0; answer && answer->status == busy && tries < most_tries; ++tries) {
        std::this_thread::sleep_for(std::chrono::seconds(1));
        answer = signing_.request("GET", target, "", patience);
    }
    if (answer || !(answer.error().text.starts_with("munged") ||
                    (loopback_ && answer.error().text.starts_with("[restartd] user"))))
        return judge(std::move(answer));
    if (!loopback_) std::cerr << "railctl: " << answer.error().text << " The answer is not signed.\n";
    auto unsigned_answer = judge(open_.request("GET", target, "", patience));
    if (!unsigned_answer) unsigned_answer.error().text += fmt::format(" ({})", answer.error().text);
    return unsigned_answer;
}

Expected<std::string> RestartdConnection::post(const std::string& target, const std::string& body) {
    return judge(signing_.request("POST", target, body, patience));
}

} // namespace restart
