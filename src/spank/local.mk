# src/spank
