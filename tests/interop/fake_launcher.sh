#!/bin/sh
# Stands in for a launcher: runs "env NAME=VALUE... PROGRAM ARGUMENT..." once, whatever the number of ranks.
shift 2
exec "$@"
