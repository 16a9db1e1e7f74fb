#!/bin/bash
if [ "$1" = redis-server ]; then set -- "$@" --protected-mode no; fi
exec "$@"
