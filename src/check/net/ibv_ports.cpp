#include "check/net/ibv_calls.hpp"

#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>

namespace check::net {

#ifdef RY_HAVE_VERBS

bool query_port(const IbvCalls& calls, ibv_context* context, int port, ibv_port_attr& attributes) {
    attributes = {};
    return (calls.ibv_query_port)(context, static_cast<std::uint8_t>(port),
                                  reinterpret_cast<_compat_ibv_port_attr*>(&attributes)) == 0;
}

base::Expected<std::shared_ptr<const IbvCalls>> open_ibv(std::span<const std::string> paths) {
    std::string name = "libibverbs.so.1";
    for (const auto& path : paths)
        if (std::filesystem::path(path).filename().string().starts_with("libibverbs.")) name = path;
    void* library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL); // never unloaded: drivers may have threads
    if (library == nullptr)
        return base::Error{base::Code::not_found, fmt::format("libibverbs: {}", ::dlerror())};
    auto calls = std::make_shared<IbvCalls>();
    std::string missing;
#define RAILYARD_IBV_LOAD(symbol)                                                                            \
    calls->symbol = reinterpret_cast<decltype(calls->symbol)>(::dlsym(library, #symbol));                    \
    if (calls->symbol == nullptr) missing = #symbol;
    RAILYARD_IBV_FUNCTIONS(RAILYARD_IBV_LOAD)
#undef RAILYARD_IBV_LOAD
    if (!missing.empty())
        return base::Error{base::Code::unavailable, fmt::format("libibverbs: {} has no {}", name, missing)};
    return std::shared_ptr<const IbvCalls>(std::move(calls));
}

base::Expected<std::vector<std::string>> ibv_ports(const IbvCalls& calls) {
    std::vector<std::string> ports;
    const IbvDevices devices(calls);
    for (auto* device : devices.all()) {
        auto* context = calls.ibv_open_device(device);
        if (context == nullptr) continue;
        ibv_device_attr about{};
        const int count = calls.ibv_query_device(context, &about) == 0 ? about.phys_port_cnt : 1;
        for (int port = 1; port <= count; ++port)
            if (ibv_port_attr attributes;
                query_port(calls, context, port, attributes) && attributes.state == IBV_PORT_ACTIVE)
                ports.push_back(fmt::format("{}:{}", calls.ibv_get_device_name(device), port));
        calls.ibv_close_device(context);
    }
    if (ports.empty())
        return base::Error{base::Code::unavailable,
                           devices.all().empty() ? "libibverbs shows no HCA" : "no port of an HCA is active"};
    return ports;
}

#else

base::Expected<std::shared_ptr<const IbvCalls>> open_ibv(std::span<const std::string>) {
    return ibv_not_built();
}
base::Expected<std::vector<std::string>> ibv_ports(const IbvCalls&) {
    return ibv_not_built();
}

#endif

base::Error ibv_not_built() {
    return {base::Code::unavailable,
            "this railcheck was built without libibverbs' header: configure found no libibverbs-dev"};
}

} // namespace check::net
