/**
 * Reads JSON that Toolyard wrote itself: in Redis, in its files, or to its own processes. What callers, tools and
 * manifests send is checked by a schema instead. Here the release that wrote it is the check: `protocol` says which
 * releases may work side by side.
 */
export function storedJson<Stored> (text: string): Stored {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- Each reader knows the writer: see above.
  return JSON.parse(text) as Stored
}
