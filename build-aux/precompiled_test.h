// Likewise for the files of tests/unit.
#include <catch2/catch.hpp>

#include "precompiled.h"
