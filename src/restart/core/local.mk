# src/restart/core
