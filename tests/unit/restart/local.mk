# tests/unit/restart
