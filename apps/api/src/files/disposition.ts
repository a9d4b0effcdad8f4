/** No browser runs anything of these. */
const harmless = /^(?:image\/(?:avif|bmp|gif|jpeg|png|webp)|text\/plain|audio\/|video\/)/

/** Makes a browser store a file under its name, or show it where it is harmless. */
export function dispositionOf (name: string, type: string): string {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(name).replaceAll(/['()*]/g, char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
  return `${harmless.test(type) ? 'inline' : 'attachment'}; filename="${plain}"; filename*=UTF-8''${encoded}`
}
