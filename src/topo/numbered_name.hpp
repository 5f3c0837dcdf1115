// Names of a series: "n007.example.org" is number 7 of "n….example.org".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace topo {

// A number in a name, and the text around it; views of the name.
struct NumberedName {
    std::string_view stem, tail;
    std::size_t digits = 0;
    std::uint32_t number = 0;

    std::string at(std::uint32_t other) const; // the name with that number
    bool kin(const NumberedName& other) const { return stem == other.stem && tail == other.tail; }
};

// The last number in the name's first label, or the one `before_last` positions earlier. Nothing for a name
// without such a number, and for a GUID used as a name.
std::optional<NumberedName> numbered(std::string_view name, int before_last = 0);

// The name with every run of digits as one '#': "leaf-su1-r12" is "leaf-su#-r#".
std::string name_shape(std::string_view name);

} // namespace topo
