export interface AcceptedTypes {
  json: boolean
  stream: boolean
  /** It names streams, or takes nothing else: who takes anything is given what is simplest to read. */
  namesStream: boolean
}

/** Reads the header `Accept`. Without one, a client takes anything. */
export function acceptedTypes (header: string | undefined): AcceptedTypes {
  const ranges = (header ?? '').toLowerCase().split(',').map(range => {
    const [type = '', ...parameters] = range.split(';').map(part => part.trim())
    const quality = parameters.find(parameter => parameter.startsWith('q='))?.slice(2)
    return { type, isTaken: quality === undefined || Number(quality) > 0 }
  }).filter(({ type }) => type !== '')
  if (ranges.length === 0) return { json: true, stream: true, namesStream: false }
  // The range that says most counts.
  const taken = (...types: string[]): boolean | undefined => (
    types.map(type => ranges.find(range => range.type === type)?.isTaken).find(known => known !== undefined)
  )
  const json = taken('application/json', 'application/*', '*/*') ?? false
  const stream = taken('text/event-stream', 'text/*', '*/*') ?? false
  return { json, stream, namesStream: stream && (!json || taken('text/event-stream', 'text/*') === true) }
}
