import { asError } from '@toolyard/contract/terms'

const quietMs = 60_000
/** Texts may name jobs, of which there are any number. */
const mostTexts = 1_000

/** Tells what is wrong with a queue or the like once a minute: what lasts is met several times a second. */
export function onceAMinute (tell: (error: unknown, place: string) => void): (error: unknown, place: string) => void {
  const toldAt = new Map<string, number>()
  return (error, place) => {
    const [text, now] = [`${place} ${asError(error).message}`, performance.now()]
    if (now - (toldAt.get(text) ?? -Infinity) < quietMs) return
    if (toldAt.size >= mostTexts) toldAt.clear()
    toldAt.set(text, now)
    tell(error, place)
  }
}
