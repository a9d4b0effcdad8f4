import { orElse } from '../value/caught.ts'

/** A name as a part of a JSON pointer. */
export function pointerToken (name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** The same behind # in a URI. Few readers decode one, so that only what no URI may have is encoded, and half a surrogate pair stays. */
export function fragmentToken (name: string): string {
  return orElse(() => encodeURI(pointerToken(name)).replaceAll('#', '%23'), name)
}

/** The name that a part of a JSON pointer stands for. */
export function pointerName (token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** What a reference such as `#/$defs/place` leads to; undefined where it leads nowhere, or out of the document. */
export function pointerTarget (root: unknown, reference: string): unknown {
  if (!/^#(?:\/|$)/.test(reference)) return undefined
  return reference.split('/').slice(1).reduce<unknown>((at, part) => {
    const name = pointerName(orElse(() => decodeURIComponent(part), part))
    return typeof at === 'object' && at !== null ? Object.getOwnPropertyDescriptor(at, name)?.value : undefined
  }, root)
}
