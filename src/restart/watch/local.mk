# src/restart/watch
