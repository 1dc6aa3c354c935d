{{- define "kro.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{- define "kro.labels" -}}
app.kubernetes.io/name: kafka-reassignment-operator
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "kro.selector" -}}
app.kubernetes.io/name: kafka-reassignment-operator
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "kro.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "kro.name" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- required "serviceAccount.name is needed when serviceAccount.create is false" .Values.serviceAccount.name -}}
{{- end -}}
{{- end }}

{{- define "kro.operatorId" -}}
{{- default (printf "%s-%s" .Release.Namespace .Release.Name | replace "." "-" | trunc 63 | trimSuffix "-") .Values.operatorId -}}
{{- end }}

{{- define "kro.image" -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end }}

{{/* What every pod of ours is: the restricted profile of the Pod Security Standards. */}}
{{- define "kro.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "kro.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- define "kro.probes" -}}
livenessProbe:
  httpGet: {path: /livez, port: ops}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
readinessProbe:
  httpGet: {path: /readyz, port: ops}
  periodSeconds: 5
  timeoutSeconds: 5
{{- end }}

{{- define "kro.scheduling" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{/* Everything that the operator may do to resources of a namespace; for a ClusterRole or a Role. */}}
{{- define "kro.resourceRules" -}}
- apiGroups: [kafka-reassignment.io]
  resources: [kafkareassignments, kafkareassignmentcancels]
  verbs: [get, list, watch, patch] # patch: for metadata.finalizers alone, see specGuard
- apiGroups: [kafka-reassignment.io]
  resources: [kafkareassignments/status, kafkareassignmentcancels/status]
  verbs: [patch]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- end }}
