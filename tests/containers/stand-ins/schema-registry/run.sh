#!/bin/bash
# The data outlives the container.
export REGISTRY_DATASOURCE_URL='jdbc:h2:file:/var/lib/registry/db'
exec java -Xmx384m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+ExitOnOutOfMemoryError \
  -Dquarkus.http.host=0.0.0.0 -Dquarkus.http.port=8081 -Dquarkus.log.level=WARN -jar apicurio-registry-*-runner.jar
