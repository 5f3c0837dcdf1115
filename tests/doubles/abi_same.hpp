// Whether a function that we declare is one that a library's own header declares.
#pragma once

#include <type_traits>

// What a register or the stack holds is the same: pointers are pointers, enumerations and numbers have one
// size.
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
