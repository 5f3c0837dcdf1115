# tests/apps
