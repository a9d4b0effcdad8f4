/** How long a browser may take to begin with a file, in milliseconds. */
const keptMs = 10_000

export function storeFile (file: Blob, name: string): void {
  const url = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => { URL.revokeObjectURL(url) }, keptMs)
}
