// What an XID's text names beside its number, for rules to look at. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace restart {

struct XidWords {
    // The text, for XID 74 with the bits that its registers have set: "… link 2(0x10000, 0x2) <r0.16><r1.1>".
    std::string text;
    // The part of the GPU that it names: "GPC 3 TPC 2" of XID 13, "GPC1 GPCCLIENT_T1_4" of 31, "link 2" of
    // NVLink's; empty: none.
    std::string part;
};

// Texts, as the kernel log has them (drivers of r450 to r580): "Graphics SM Warp Exception on (GPC 3, TPC 2,
// SM 1): Out Of Range Address" (13), "NVLink: fatal error detected on link 2(0x10000, 0x0, …)" (74, seven
// registers), "NETIR_LINK_EVT  Fatal   XC0 i0 Link 08 (0x004505c6 0x00000000 …)" (144 to 150). Another text
// is left as it is.
XidWords words_of_xid(std::uint32_t code, std::string_view text);

// Whether a faulty program has this XID on a sound GPU, or a sound one meets it on a bad GPU: what its owner
// wants to know. Source: NVIDIA's XID catalogue (debug, or restart, the application).
bool is_programs(std::uint32_t code);

} // namespace restart
