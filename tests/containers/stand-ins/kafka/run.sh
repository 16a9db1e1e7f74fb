#!/bin/bash
# KAFKA_A_B=c of the environment is the property a.b=c.
set -euo pipefail
properties=/tmp/server.properties
env | sed -n 's/^KAFKA_//p' | grep -v '^HEAP_OPTS=' | while IFS='=' read -r name value; do
  echo "$(tr 'A-Z_' 'a-z.' <<<"$name")=$value"
done >"$properties"
java=(java ${KAFKA_HEAP_OPTS:--Xmx512m} -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:+ExitOnOutOfMemoryError
  -Dorg.slf4j.simpleLogger.defaultLogLevel=warn -cp '/opt/kafka/libs/*')
[ -e "$KAFKA_LOG_DIRS/meta.properties" ] || "${java[@]}" kafka.tools.StorageTool format -t "$CLUSTER_ID" -c "$properties"
exec "${java[@]}" kafka.Kafka "$properties"
