// Whether our declaration of a function matches the one in a library's own header.
#pragma once

#include <type_traits>

// Compares what a register or the stack holds: pointers are alike, enumerations and numbers must have the
// same size.
template <class A, class B>
constexpr bool like = (std::is_pointer_v<A> && std::is_pointer_v<B>) ||
                      (!std::is_pointer_v<A> && !std::is_pointer_v<B> && sizeof(A) == sizeof(B) &&
                       std::is_floating_point_v<A> == std::is_floating_point_v<B> &&
                       std::is_class_v<A> == std::is_class_v<B>);
template <class A, class B> constexpr bool same = false;
template <class R, class... A, class S, class... B>
constexpr bool same<R(A...), S(B...)> = [] {
    if constexpr (sizeof...(A) == sizeof...(B))
        return like<R, S> && (like<A, B> && ...);
    else
        return false;
}();
