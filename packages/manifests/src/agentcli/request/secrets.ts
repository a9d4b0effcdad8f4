/** Headers and fields of a query whose values are credentials. */
const credential = /^(?:proxy-)?authorization$|^cookie$|api[-_]?key|access[-_]?key|private[-_]?key|secret|passw|credential|signature/i
const token = /token|^(?:key|auth|sig)$/i
const scheme = /^(?:bearer|basic|token|digest)\s+\S{6}/i
/** A shorter value of something called a token is a switch, such as `X-Atlassian-Token: no-check`. */
const shortToken = 16

/** Whether a name is that of a credential, whatever its value. */
export function isCredential (name: string): boolean {
  return credential.test(name)
}

export function looksSecret (name: string, value: string): boolean {
  if (value === '') return false
  return isCredential(name) || (token.test(name) && value.length >= shortToken) || scheme.test(value)
}
