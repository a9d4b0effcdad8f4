import type { ComponentChildren, VNode } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { ApiError } from '../access/api.ts'
import { useAccess } from '../access/context.ts'
import { asError } from '../access/load.ts'
import { Confirm } from '../parts/dialog.tsx'
import { Problem } from '../parts/notice.tsx'
import { fileRoute, type Place } from './places.ts'

interface UploadsProps {
  place: Place
  directory: string
  canChange: boolean
  onUploaded: () => void
  children: ComponentChildren
}

/** A frame into which files are dropped, with a button for those who don't. A file that is there is replaced only when that is wanted. */
export function Uploads ({ place, directory, canChange, onUploaded, children }: UploadsProps): VNode {
  const { api } = useAccess()
  const input = useRef<HTMLInputElement>(null)
  const [isOver, setOver] = useState(false)
  const [busy, setBusy] = useState<string>()
  const [done, setDone] = useState('')
  const [known, setKnown] = useState<readonly File[]>([])
  const [problem, setProblem] = useState<Error>()

  async function put (files: readonly File[], mayReplace: boolean): Promise<void> {
    const there: File[] = []
    setProblem(undefined)
    for (const file of files) {
      setBusy(file.name)
      const path = fileRoute(place, [directory, file.name].join('/'))
      const headers: Record<string, string> = mayReplace ? {} : { 'if-none-match': '*' }
      try {
        await api.open(path, { method: 'PUT', body: file, headers })
        setDone(`${file.name} is there.`)
      } catch (error) {
        if (error instanceof ApiError && error.code === 'PRECONDITION_FAILED') there.push(file)
        else setProblem(asError(error))
      }
    }
    setBusy(undefined)
    setKnown(there)
    onUploaded()
  }
  function drop (event: DragEvent): void {
    event.preventDefault()
    setOver(false)
    void put([...event.dataTransfer?.files ?? []], false)
  }
  if (!canChange) return <div>{children}</div>
  return (
    <div class={isOver ? 'uploads over' : 'uploads'} onDragOver={event => { event.preventDefault(); setOver(true) }} onDragLeave={() => { setOver(false) }} onDrop={drop}>
      <div class='upload-bar'>
        <button type='button' onClick={() => { input.current?.click() }} disabled={busy !== undefined}>Upload files</button>
        <input
          ref={input} type='file' multiple class='unseen' tabIndex={-1} aria-label='Files to upload'
          onChange={event => { const files = [...event.currentTarget.files ?? []]; event.currentTarget.value = ''; void put(files, false) }}
        />
        <p class='soft small' aria-live='polite'>{busy === undefined ? done === '' ? 'or drop them here' : done : `${busy} is on its way …`}</p>
      </div>
      <Problem error={problem} />
      {children}
      {known.length > 0 && (
        <Confirm title='Replace what is there?' action='Replace' onConfirm={() => { void put(known, true) }} onClose={() => { setKnown([]) }}>
          <p>{known.map(({ name }) => name).join(', ')}</p>
        </Confirm>
      )}
    </div>
  )
}
