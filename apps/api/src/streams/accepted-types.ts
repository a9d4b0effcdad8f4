export interface AcceptedTypes {
  json: boolean
  stream: boolean
  /** It names streams, or takes nothing else: who takes anything is given what is simplest to read. */
  namesStream: boolean
}

/** Reads the header `Accept`. Without one, a client takes anything. */
export function acceptedTypes (header: string | undefined): AcceptedTypes {
  const ranges = readRanges(header)
  if (ranges.length === 0) return { json: true, stream: true, namesStream: false }
  // The range that says most counts.
  const taken = (...types: string[]): boolean | undefined => {
    const quality = types.map(type => ranges.find(range => range.type === type)?.quality).find(known => known !== undefined)
    return quality === undefined ? undefined : quality > 0
  }
  const json = taken('application/json', 'application/*', '*/*') ?? false
  const stream = taken('text/event-stream', 'text/*', '*/*') ?? false
  return { json, stream, namesStream: stream && (!json || taken('text/event-stream', 'text/*') === true) }
}

/** Whether the header prefers events to JSON; of equals the first one counts. */
export function prefersEvents (header: string | undefined): boolean {
  const known = readRanges(header).filter(({ type, quality }) => quality > 0 && (type === 'text/event-stream' || type === 'application/json'))
  return known.sort((a, b) => b.quality - a.quality)[0]?.type === 'text/event-stream'
}

function readRanges (header = ''): Array<{ type: string, quality: number }> {
  return header.toLowerCase().split(',').map(range => {
    const [type = '', ...parameters] = range.split(';').map(part => part.trim())
    return { type, quality: Number(parameters.find(parameter => parameter.startsWith('q='))?.slice(2) ?? 1) }
  }).filter(({ type }) => type !== '')
}
