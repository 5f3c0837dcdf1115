// The functions of libibverbs that we use, with its own declarations, and its devices. For files that include
// its header.
#pragma once

#include "check/net/ibv_ports.hpp"

#include <railyard_config.h>

#ifdef RY_HAVE_VERBS
#include <infiniband/verbs.h>
#include <type_traits>
#endif

namespace check::net {

#ifdef RY_HAVE_VERBS

// X(name): every function we use. ibv_post_send and ibv_poll_cq are the device's own.
#define RAILYARD_IBV_FUNCTIONS(X)                                                                            \
    X(ibv_get_device_list)                                                                                   \
    X(ibv_free_device_list)                                                                                  \
    X(ibv_get_device_name)                                                                                   \
    X(ibv_open_device)                                                                                       \
    X(ibv_close_device)                                                                                      \
    X(ibv_query_device)                                                                                      \
    X(ibv_query_port)                                                                                        \
    X(ibv_query_gid)                                                                                         \
    X(ibv_alloc_pd)                                                                                          \
    X(ibv_dealloc_pd)                                                                                        \
    X(ibv_reg_mr)                                                                                            \
    X(ibv_dereg_mr)                                                                                          \
    X(ibv_create_cq)                                                                                         \
    X(ibv_destroy_cq)                                                                                        \
    X(ibv_create_qp)                                                                                         \
    X(ibv_destroy_qp)                                                                                        \
    X(ibv_modify_qp)                                                                                         \
    X(ibv_wc_status_str)

#endif

struct IbvCalls {
#ifdef RY_HAVE_VERBS
#define RAILYARD_IBV_MEMBER(name) std::add_pointer_t<decltype(::name)> name = nullptr;
    RAILYARD_IBV_FUNCTIONS(RAILYARD_IBV_MEMBER)
#undef RAILYARD_IBV_MEMBER
#endif
};

#ifdef RY_HAVE_VERBS

// The list of devices, and lookup by name.
class IbvDevices {
public:
    explicit IbvDevices(const IbvCalls& calls) : calls_(calls), list_(calls.ibv_get_device_list(&count_)) {}
    ~IbvDevices() {
        if (list_ != nullptr) calls_.ibv_free_device_list(list_);
    }
    IbvDevices(const IbvDevices&) = delete;
    IbvDevices& operator=(const IbvDevices&) = delete;
    std::span<ibv_device*> all() const {
        return {list_, list_ == nullptr ? 0 : static_cast<std::size_t>(count_)};
    }
    ibv_device* find(const std::string& name) const {
        for (auto* one : all())
            if (name == calls_.ibv_get_device_name(one)) return one;
        return nullptr;
    }

private:
    const IbvCalls& calls_;
    int count_ = 0;
    ibv_device** list_;
};

// What the port reports about itself. False: nothing.
bool query_port(const IbvCalls& calls, ibv_context* context, int port, ibv_port_attr& attributes);

#endif

// The error if this build has no header of libibverbs.
base::Error ibv_not_built();

} // namespace check::net
