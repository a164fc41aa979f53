# Sourced after test/compat/lib/env.sh: Spark and Trino, fetched by package name, run on loopback.
SPARK_VERSION=4.1.3
TRINO_VERSION=476

java_home() { # java_home LOWEST: a Java home of at least that major version, newest first
  local folder version
  for folder in $(ls -d /usr/lib/jvm/*/ "${JAVA_HOME:-/nowhere}/" 2>/dev/null | sort -Vr); do
    version=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$folder/release" 2>/dev/null || true)
    if [ -n "$version" ] && [ "$version" -ge "$1" ] && [ "$version" -le "${2:-99}" ] && [ -x "$folder/bin/java" ]; then echo "${folder%/}"; return; fi
  done
  echo "Java $1 or later is needed" >&2
  return 1
}

spark_env() { # spark_env: prints the python of an environment with PySpark; its jars are in java-spark
  java_jars spark "$FRAZIL_ROOT/test/readers/lib/spark-pom.xml" >/dev/null
  python_env spark "$FRAZIL_ROOT/test/readers/lib/spark-requirements.txt"
}

trino_home() { # trino_home: prints the folder of an unpacked Trino server with the Iceberg plugin alone
  local home="$FRAZIL_CACHE/trino-$TRINO_VERSION" work
  if [ ! -e "$home/.ready" ]; then
    need mvn
    rm -rf "$home"; mkdir -p "$home"
    work=$(mktemp -d "$FRAZIL_CACHE/trino-get.XXXX")
    mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy -Dartifact="io.trino:trino-server:$TRINO_VERSION:tar.gz" -DoutputDirectory="$work" >&2
    mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy -Dartifact="io.trino:trino-cli:$TRINO_VERSION:jar:executable" -DoutputDirectory="$home" >&2
    # plugins share jars with lib/ as hard links, so both are unpacked together
    tar xzf "$work/trino-server-$TRINO_VERSION.tar.gz" -C "$home" --strip-components=1 "trino-server-$TRINO_VERSION/lib" "trino-server-$TRINO_VERSION/plugin/iceberg" >&2 ||
      tar xzf "$work/trino-server-$TRINO_VERSION.tar.gz" -C "$home" --strip-components=1
    find "$home/plugin" -mindepth 1 -maxdepth 1 ! -name iceberg -exec rm -rf {} +
    rm -rf "$work"; touch "$home/.ready"
  fi
  echo "$home"
}

trino_start() { # trino_start REST_URI STATE_FOLDER PORT: writes the config, starts, waits until it answers a query
  local home state=$2 port=$3
  home=$(trino_home)
  mkdir -p "$state/etc/catalog" "$state/data"
  cat >"$state/etc/config.properties" <<P
coordinator=true
node-scheduler.include-coordinator=true
http-server.http.port=$port
discovery.uri=http://127.0.0.1:$port
node.internal-address=127.0.0.1
node.bind-ip=127.0.0.1
query.max-memory=512MB
query.max-memory-per-node=512MB
memory.heap-headroom-per-node=256MB
P
  echo io.trino=WARN >"$state/etc/log.properties"
  cat >"$state/etc/catalog/ice.properties" <<P
connector.name=iceberg
iceberg.catalog.type=rest
iceberg.rest-catalog.uri=$1
fs.native-local.enabled=true
local.location=/
fs.hadoop.enabled=false
P
  (cd "$state" && exec setsid "$(java_home 24)/bin/java" -server -Xmx2G -XX:+UseSerialGC -XX:+ExitOnOutOfMemoryError -XX:ReservedCodeCacheSize=256M -Djdk.attach.allowAttachSelf=true \
    -Djdk.nio.maxCachedBufferSize=2000000 -Dfile.encoding=UTF-8 --add-modules=jdk.incubator.vector --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow \
    -Duser.timezone=UTC -Dnode.data-dir="$state/data" -Dplugin.dir="$home/plugin" -Dconfig="$state/etc/config.properties" -Dlog.levels-file="$state/etc/log.properties" \
    -Dcatalog.config-dir="$state/etc/catalog" -Dnode.environment=test -Dnode.id=test -cp "$home/lib/*" io.trino.server.TrinoServer >"$state/server.log" 2>&1 </dev/null) &
  echo $! >"$state/pid"; echo "$port" >"$state/port"
  for _ in $(seq 240); do
    curl -s "http://127.0.0.1:$port/v1/info" | grep -q '"starting":false' && trino_sql "$state" 'select count(*) from (values 1)' >/dev/null 2>&1 && return 0
    kill -0 "$(cat "$state/pid")" 2>/dev/null || { tail -30 "$state/server.log" >&2; return 1; }
    sleep 0.5
  done
  echo "Trino did not answer within 120 s" >&2
  return 1
}

trino_sql() { # trino_sql STATE_FOLDER SQL: prints CSV
  "$(java_home 24)/bin/java" -Xmx256m --enable-native-access=ALL-UNNAMED -Dorg.jline.terminal.dumb=true -jar "$(trino_home)"/trino-cli-*-executable.jar \
    --server "http://127.0.0.1:$(cat "$1/port")" --user test --timezone UTC --output-format CSV --progress=false --execute "$2"
}

trino_stop() { # trino_stop STATE_FOLDER
  local pid
  pid=$(cat "$1/pid")
  pkill -TERM -P "$pid" 2>/dev/null || true
  kill "$pid" 2>/dev/null || true
  for _ in $(seq 40); do kill -0 "$pid" 2>/dev/null || return 0; sleep 0.5; done
  pkill -KILL -P "$pid" 2>/dev/null || true
  kill -9 "$pid" 2>/dev/null || true
}
