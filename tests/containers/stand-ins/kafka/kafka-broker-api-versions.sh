#!/bin/bash
# kafka-broker-api-versions.sh --bootstrap-server host:port: exit code 0 when the broker listens.
IFS=: read -r host port <<<"$2"
exec 3<>"/dev/tcp/$host/$port"
