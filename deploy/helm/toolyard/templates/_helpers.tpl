{{/* What all names begin with. */}}
{{- define "toolyard.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* The Redis of this release, and its host name. Labels of its pods hold the name and a hash: at most 52 characters. */}}
{{- define "toolyard.redis" -}}
{{ include "toolyard.fullname" . | trunc 46 | trimSuffix "-" }}-redis
{{- end -}}

{{/* By which pods are found: a dict of `root` and `component`. */}}
{{- define "toolyard.selector" -}}
app.kubernetes.io/name: toolyard
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* All labels of an object that has a component. */}}
{{- define "toolyard.labels" -}}
{{ include "toolyard.selector" . }}
{{ include "toolyard.chart" .root }}
{{- end -}}

{{/* The labels of every object. */}}
{{- define "toolyard.chart" -}}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* An image: a dict of `root` and `image`. */}}
{{- define "toolyard.image" -}}
{{- if .image.digest -}}
{{ .image.repository }}@{{ .image.digest }}
{{- else -}}
{{ .image.repository }}:{{ default .root.Chart.AppVersion .image.tag }}
{{- end -}}
{{- end -}}

{{- define "toolyard.secret" -}}
{{ default (include "toolyard.fullname" .) .Values.secret.name }}
{{- end -}}

{{/* The spec of a claim that many nodes mount: an entry of `storage`. */}}
{{- define "toolyard.claim" -}}
accessModes: [ReadWriteMany]
{{- if .storageClass }}
storageClassName: {{ .storageClass | quote }}
{{- end }}
resources:
  requests:
    storage: {{ .size }}
{{- end -}}
