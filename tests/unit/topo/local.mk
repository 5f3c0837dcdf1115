# tests/unit/topo
