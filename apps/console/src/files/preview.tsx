import { visible } from '@toolyard/contract/terms'
import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useAccess } from '../access/context.ts'
import { asError, useLoad } from '../access/load.ts'
import { useKeys } from '../parts/keys.ts'
import { LongText } from '../parts/long-text.tsx'
import { Problem } from '../parts/notice.tsx'
import { storeFile } from '../parts/store-file.ts'
import { bytes } from '../parts/times.ts'
import { fileRoute, mostTextBytes, previewOf, type Place } from './places.ts'

/** A file with its beginning as a text, or all of it as an image. */
interface Shown {
  type: string
  size: number
  text?: string
  image?: Blob
}

export function Preview ({ place, path, close }: { place: Place, path: string, close: string }): VNode {
  const { api } = useAccess()
  const route = fileRoute(place, path)
  const name = path.split('/').at(-1) ?? path
  const shownName = visible(name)
  const [problem, setProblem] = useState<Error>()
  const { data, error } = useLoad<Shown>(route, async signal => {
    const head = await api.open(route, { method: 'HEAD', signal })
    const type = head.headers.get('content-type') ?? ''
    const size = Number(head.headers.get('content-length') ?? 0)
    const kind = previewOf(type, size)
    if (kind === 'text' && size > 0) {
      const part = await api.open(route, { headers: { range: `bytes=0-${mostTextBytes - 1}` }, signal })
      return { type, size, text: await part.text() }
    }
    if (kind === 'image') return { type, size, image: await (await api.open(route, { signal })).blob() }
    return { type, size }
  })
  useKeys({ Escape: () => { location.hash = close } })
  async function download (): Promise<void> {
    // The login counts with a header, which a plain link doesn't send.
    await api.open(route)
      .then(async response => { storeFile(await response.blob(), name) })
      .catch((caught: unknown) => { setProblem(asError(caught)) })
  }
  return (
    <section class='card preview' aria-label={`The file ${shownName}`}>
      <header>
        <h2>{shownName}</h2>
        <div class='actions'>
          <button type='button' onClick={() => { void download() }}>Download</button>
          <a class='button' href={close}>Close</a>
        </div>
      </header>
      <p class='soft small'>{data === undefined ? ' ' : `${data.type.split(';')[0] ?? ''}, ${bytes(data.size)}`}</p>
      <Problem error={problem ?? error} />
      {data !== undefined && <Content shown={data} name={shownName} />}
    </section>
  )
}

function Content ({ shown: { size, text, image }, name }: { shown: Shown, name: string }): VNode {
  if (image !== undefined) return <Picture image={image} name={name} />
  if (size === 0) return <p class='soft'>The file is empty.</p>
  if (text === undefined) return <p class='soft'>It can't be shown here. Download it.</p>
  return (
    <>
      <pre class='text' tabIndex={0} aria-label={`The text of ${name}`}><LongText text={text} /></pre>
      {size > mostTextBytes && <p class='soft small'>The first {bytes(mostTextBytes)} of {bytes(size)}.</p>}
    </>
  )
}

function Picture ({ image, name }: { image: Blob, name: string }): VNode {
  const [source, setSource] = useState<string>()
  useEffect(() => {
    const url = URL.createObjectURL(image)
    setSource(url)
    return () => { URL.revokeObjectURL(url) }
  }, [image])
  return source === undefined ? <></> : <img class='picture' src={source} alt={`The picture ${name}`} />
}
