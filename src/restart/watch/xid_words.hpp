// What an XID's text contains in addition to its number, for rules to match. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace restart {

struct XidWords {
    // The text, for XID 74 with the bits set in its registers: "… link 2(0x10000, 0x2) <r0.16><r1.1>".
    std::string text;
    // The part of the GPU that it names: "GPC 3 TPC 2" for XID 13, "GPC1 GPCCLIENT_T1_4" for 31, "link 2" for
    // NVLink; empty: none.
    std::string part;
};

// Texts in the format of the kernel log (drivers of r450 to r580): "Graphics SM Warp Exception on (GPC 3, TPC
// 2, SM 1): Out Of Range Address" (13), "NVLink: fatal error detected on link 2(0x10000, 0x0, …)" (74, seven
// registers), "NETIR_LINK_EVT  Fatal   XC0 i0 Link 08 (0x004505c6 0x00000000 …)" (144 to 150). Other texts
// are returned unchanged.
XidWords words_of_xid(std::uint32_t code, std::string_view text);

// Whether a faulty program causes this XID on a sound GPU, or a correct program meets it on a bad GPU: its
// owner should know. Source: NVIDIA's XID catalogue (debug, or restart, the application).
bool is_programs(std::uint32_t code);

} // namespace restart
