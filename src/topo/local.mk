# src/topo
