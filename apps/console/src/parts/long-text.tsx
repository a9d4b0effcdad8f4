import { Fragment, type VNode } from 'preact'
import { useState } from 'preact/hooks'

/** UTF-16 units that are shown at once: letters that turn the direction of writing again and again take seconds to be laid out. */
const shownAtOnce = 32_768

/** The beginning of a text, and more of it where somebody asks. */
export function LongText ({ text }: { text: string }): VNode {
  const [most, setMost] = useState(shownAtOnce)
  const shown = text.length > most ? text.slice(0, most).replace(/[\ud800-\udbff]$/, '') : text
  return (
    <>
      {shown}
      {shown.length < text.length && (
        <button type='button' class='quiet' onClick={() => { setMost(most + shownAtOnce) }}>{text.length - shown.length} more characters</button>
      )}
    </>
  )
}

/** Behind what joins the words of a name, and before a word that begins with a capital letter. */
const betweenWords = /(?<=[_.:/-])(?![_.:/-])|(?<=[a-z0-9])(?=[A-Z])/

/** A name, or a text with names, which breaks between their words where its place is narrow. */
export function Name ({ text }: { text: string }): VNode {
  return <span>{text.split(betweenWords).map((part, at) => <Fragment key={at}>{at > 0 && <wbr />}{part}</Fragment>)}</span>
}
