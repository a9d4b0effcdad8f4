import { looksSecret } from '../request/secrets.ts'

/** Names whose values are secrets, in any case and wherever the word stands. */
const secretName = /token|secret|passw|api[-_]?key|app[-_]?key|access[-_]?key|private[-_]?key|credential|^authorization$|^proxy-authorization$|^cookie$/i
/** How well-known services write their keys. */
const secretValue = /\b(?:sk-[\w-]{12,}|gh[pousr]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|xox[abeprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+)/
/** Names such as USE_CREDENTIALS and MAX_TOKENS have no secrets then. */
const switchValue = /^(?:true|false|yes|no|on|off|none)$/i
const tokenName = /token/i
const count = /^\d{1,9}$/
/** Who names a file has not written what is in it. */
const file = /^(?:~|\.{0,2})\/\S*\.[A-Za-z]{1,8}$/
const placeName = /(?:file|path|dir|directory|url|uri|endpoint)$/i
const place = /^(?:(?:~|\.{0,2})\/|https?:\/\/[^?#@]*$)/
const option = /^--?([A-Za-z][\w.-]*)(?:=(.*))?$/s
/** A variable for a program that this one starts, or a header; a script for a shell is none. */
const assignment = /^(?:--?[\w-]+=)?([A-Za-z][\w-]*)(?:=([^\s$]+)|:\s(\S.*))$/
/** A shorter word behind an option may have nothing to do with it. */
const shortWord = 8

/** Whether a text holds a key as well-known services write theirs. */
export function hasSecret (text: string): boolean {
  return secretValue.test(text)
}

/** Whether a value of this name, of a variable, a header or a field of an address, is a secret. */
export function isSecret (name: string, value: string): boolean {
  if (value === '') return false
  if (hasSecret(value)) return true
  return (secretName.test(name) || looksSecret(name, value)) && !isHarmless(name, value)
}

/** Whether an argument is a secret, or has one. */
export function isSecretArgument (word: string, before = ''): boolean {
  if (hasSecret(word)) return true
  const [, variable, ofVariable, ofHeader] = assignment.exec(word) ?? []
  if (variable !== undefined && isSecret(variable, ofVariable ?? ofHeader ?? '')) return true
  const [, own, given] = option.exec(word) ?? []
  if (own !== undefined) return given !== undefined && looksGiven(own, given)
  const [, name, taken] = option.exec(before) ?? []
  return name !== undefined && taken === undefined && word.length >= shortWord && looksGiven(name, word)
}

/** Options such as `--token-type bearer` have short words. */
function looksGiven (name: string, value: string): boolean {
  return looksSecret(name, value) && !isHarmless(name, value)
}

function isHarmless (name: string, value: string): boolean {
  if (switchValue.test(value) || file.test(value)) return true
  return (tokenName.test(name) && count.test(value)) || (placeName.test(name) && place.test(value))
}
