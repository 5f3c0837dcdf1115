#include "base/ucx_words.hpp"

#include <catch2/catch.hpp>

TEST_CASE("which UCX_TLS lets UCX use InfiniBand") {
    for (const auto* tls :
         {"", "all", "ib", "rc,sm,self", "tcp,ud_verbs", "\\rc,self", "dc_mlx5", "rc_x", "^tcp", "^rc,ud"})
        CHECK(base::ucx_tls_has_infiniband(tls));
    for (const auto* tls : {"tcp", "tcp,self,posix", "sm", "^ib", "^tcp,ib", "rcx", "udp", ","})
        CHECK_FALSE(base::ucx_tls_has_infiniband(tls));
}

TEST_CASE("which UCX_NET_DEVICES lets UCX use InfiniBand") {
    for (const auto* devices : {"", "all", "mlx5_0:1", "eth0,mlx5_3:1"})
        CHECK(base::ucx_devices_have_infiniband(devices));
    for (const auto* devices : {"eth0", "eth0,lo", ","})
        CHECK_FALSE(base::ucx_devices_have_infiniband(devices));
}
