const most = 64
/** A run of `_` in the middle is looked at once: each of its letters could begin the end of the text. */
const ends = /^_+|(?<!_)_+$/g

/** A text as a part of a name that providers take: letters, digits, `_` and `-`. */
export function safeName (text: string): string {
  return text.replace(/[^a-zA-Z0-9_-]+/g, '_').replace(ends, '').slice(0, most) || '_'
}

/** A name of a tool for an operation: that of its id, with the method in front of one that doesn't begin with a letter. */
export function operationName (id: string, method: string, path: string): string {
  const name = safeName(id)
  if (/^[a-zA-Z]/.test(name)) return name
  return /[a-zA-Z0-9]/.test(name) ? `${method}_${name}` : `${method}_${safeName(path)}`
}

/** A text as a part of the name of an environment variable. */
export function variablePart (text: string): string {
  return text.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase().replace(/[^A-Z0-9]+/g, '_').replace(ends, '').slice(0, most)
}
