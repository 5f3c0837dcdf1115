# tests/unit/watch
