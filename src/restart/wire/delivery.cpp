#include "restart/wire/delivery.hpp"

#include "base/log.hpp"

namespace restart {

base::Expected<Delivery> Delivery::make(Target target) {
    auto client = HttpClient::make(target.urls, MungeAuth(target.munge_socket, target.user));
    if (!client) return std::move(client).error();
    return Delivery(std::move(target), *std::move(client));
}

base::Expected<std::string> Delivery::attempt(std::string_view path, std::string_view body) {
    auto answer = client_.request("POST", path, body, timeout);
    if (!answer) return std::move(answer).error();
    if (answer->status == 409) return base::Error{base::Code::unfit, std::move(answer->body)};
    if (answer->status != 200)
        return base::Error{base::Code::denied, fmt::format("{}{}: refused with {}: {}", client_.url(), path,
                                                           answer->status, answer->body.substr(0, 300))};
    return std::move(answer->body);
}

base::Expected<std::string> Delivery::post(std::string_view path, std::string_view body) {
    auto answer = attempt(path, body);
    if (!answer && answer.error().code == base::Code::unfit) return answer;
    const auto now = answer                                      ? Trouble::none
                     : answer.error().code == base::Code::denied ? Trouble::refused
                                                                 : Trouble::unreachable;
    if (now != trouble_ || (answer && client_.url() != reached_)) {
        if (answer)
            base::log::info("reports to {}", client_.url());
        else
            base::log::warning("{}; trying on", answer.error().text);
    }
    trouble_ = now;
    if (answer) reached_ = client_.url();
    return answer;
}

} // namespace restart
