/** Stands in the place of what is hidden. */
export const hiddenText = '***REDACTED***'

/** Settings whose values are secrets of the service. */
const names = [
  'API_KEY', 'API_KEYS_JSON', 'SECRETS_KEY', 'SECRETS_KEY_PREVIOUS',
  'REDIS_URL', 'REDIS_PASSWORD', 'REDIS_SENTINEL_PASSWORD', 'REDIS_TLS_KEY', 'CALLBACK_SECRET', 'WEB_SEARCH_BRAVE_KEY',
  'OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'
]
const secrets = new Set(names.flatMap(name => [name, `${name}_FILE`]))

/** Whether a variable of the environment holds a secret of the service, which no tool gets, whatever its manifest says. */
export function isSecretVariable (name: string): boolean {
  return secrets.has(name)
}

export const secretNamePattern = '^(?!\\.{1,2}$)[A-Za-z0-9_.-]{1,64}$'

export function isSecretName (name: unknown): name is string {
  return typeof name === 'string' && new RegExp(secretNamePattern).test(name)
}
