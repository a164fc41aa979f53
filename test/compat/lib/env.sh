# Sourced by the scripts of the wider suites: where foreign clients and engines are kept, and how each is installed.
# Everything is fetched by package name into FRAZIL_CACHE (default: the user's cache folder); safe to delete.
FRAZIL_CACHE="${FRAZIL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/frazil}"
FRAZIL_ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)"
export FRAZIL_CACHE FRAZIL_ROOT
mkdir -p "$FRAZIL_CACHE"
PATH="$FRAZIL_ROOT/node_modules/.bin:$PATH"
KAFKA_VERSION=4.4.0
MAVEN_COPY=org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies

need() { # need COMMAND...: stops with one sentence when a tool is missing
  local command
  for command in "$@"; do
    command -v "$command" >/dev/null || { echo "this suite needs $command, which is not installed" >&2; exit 2; }
  done
}

python_env() { # python_env NAME REQUIREMENTS: a virtual environment; prints its python
  local venv="$FRAZIL_CACHE/python-$1"
  need python3
  if ! cmp -s "$2" "$venv/.requirements"; then
    rm -rf "$venv"
    python3 -m venv "$venv" >&2
    "$venv/bin/pip" install -q --disable-pip-version-check -r "$2" >&2
    cp "$2" "$venv/.requirements"
  fi
  echo "$venv/bin/python"
}

java_jars() { # java_jars NAME POM: the pom's runtime jars in a folder; prints the folder
  local folder="$FRAZIL_CACHE/java-$1"
  need mvn java
  if ! cmp -s "$2" "$folder/.pom"; then
    rm -rf "$folder"
    mkdir -p "$folder"
    mvn -q -B -f "$2" "$MAVEN_COPY" -DoutputDirectory="$folder" -DincludeScope=runtime >&2
    cp "$2" "$folder/.pom"
  fi
  echo "$folder"
}

go_binary() { # go_binary NAME SOURCE_FOLDER: builds a Go program; prints the binary
  local work="$FRAZIL_CACHE/go-$1"
  need go
  if ! diff -q -r -x "go.sum" -x program "$2" "$work" >/dev/null 2>&1 || [ ! -x "$work/program" ]; then
    rm -rf "$work"
    cp -r "$2" "$work"
    (cd "$work" && go mod tidy >/dev/null 2>&1 && cp "$2/go.mod" go.mod.want && go build -o program . ) >&2
    cp "$2/go.mod" "$work/go.mod"; rm -f "$work/go.mod.want"
  fi
  echo "$work/program"
}

free_port() { python3 -c 'import socket; s=socket.socket(); s.bind(("127.0.0.1",0)); print(s.getsockname()[1])'; }
