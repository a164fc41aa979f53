{{- define "frazil.name" -}}
{{- if contains "frazil" .Release.Name }}{{ .Release.Name | trunc 63 | trimSuffix "-" }}{{ else }}{{ printf "%s-frazil" .Release.Name | trunc 63 | trimSuffix "-" }}{{ end -}}
{{- end }}

{{- define "frazil.selector" -}}
app.kubernetes.io/name: frazil
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "frazil.labels" -}}
{{ include "frazil.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "frazil.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (include "frazil.name" .) }}{{ else }}{{ .Values.serviceAccount.name | default "default" }}{{ end -}}
{{- end }}
