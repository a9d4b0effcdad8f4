import { isRecord } from '@toolyard/contract/terms'
import { CLIENT_CAPABILITIES_META_KEY, type ServerContext } from '@modelcontextprotocol/server'

/** How the person behind a client can be asked: by a form, and by a page that the client opens. */
export interface ClientForms {
  form: boolean
  url: boolean
}

export const noForms: ClientForms = { form: false, url: false }

/** Reads what a client says that it can. */
export function formsIn (capabilities: unknown): ClientForms {
  const elicitation = isRecord(capabilities) ? capabilities['elicitation'] : undefined
  if (!isRecord(elicitation)) return noForms
  // Before there were pages, forms were not named.
  return { form: elicitation['form'] !== undefined || Object.keys(elicitation).length === 0, url: elicitation['url'] !== undefined }
}

/** The same of the client of a request of 2026. */
export function formsOf ({ mcpReq: { envelope } }: ServerContext): ClientForms {
  return formsIn(isRecord(envelope) ? envelope[CLIENT_CAPABILITIES_META_KEY] : undefined)
}
