import type { WhoAmI } from '@toolyard/contract'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Api } from './api.ts'

export type Person = WhoAmI['auth']

export interface Access {
  api: Api
  person: Person
}

export const AccessContext = createContext<Access | undefined>(undefined)

/** The service and who asks it; for pages, which are shown to those who have logged in. */
export function useAccess (): Access {
  const access = useContext(AccessContext)
  if (access === undefined) throw new Error('A page was shown to nobody')
  return access
}
