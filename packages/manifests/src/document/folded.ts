/** The name of a field by Go's case folding, as far as it can reach an ASCII letter: the long s and the Kelvin sign. */
export function folded (name: string): string {
  // Nearly all names are written as they are read.
  if (!/[A-Z\u017f\u212a]/.test(name)) return name
  return name.replaceAll('\u017f', 's').replaceAll('\u212a', 'k').replace(/[A-Z]/g, letter => letter.toLowerCase())
}
