import { orElse } from '@toolyard/contract/terms'
import { useEffect, useState } from 'preact/hooks'

/** Where the page is: what is behind the `#` of its address. */
export interface Route {
  /** The parts of the path, decoded: `#/jobs/1` is `['jobs', '1']`. */
  path: readonly string[]
  query: URLSearchParams
}

/** No name is one of these; in an address they would lead to another route. */
const nowhere = ['', '.', '..']

export function readRoute (hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split(/\?(.*)/s, 2)
  return { path: path.split('/').map(decode).filter(part => !nowhere.includes(part)), query: new URLSearchParams(query) }
}

/** The address of a page: `hrefOf(['jobs'], { status: 'failed' })` is `#/jobs?status=failed`. Empty values are left out. */
export function hrefOf (path: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) => value === undefined || value === '' ? [] : [[name, value] as [string, string]])
  const search = given.length === 0 ? '' : `?${String(new URLSearchParams(given))}`
  return `#/${path.map(encodeURIComponent).join('/')}${search}`
}

export function useRoute (): Route {
  const [route, setRoute] = useState(() => readRoute(location.hash))
  useEffect(() => {
    const follow = (): void => { setRoute(readRoute(location.hash)) }
    window.addEventListener('hashchange', follow)
    return () => { window.removeEventListener('hashchange', follow) }
  }, [])
  return route
}

function decode (text: string): string {
  return orElse(() => decodeURIComponent(text), text)
}
