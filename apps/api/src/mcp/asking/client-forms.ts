import { isRecord } from '@toolyard/contract/terms'
import { CLIENT_CAPABILITIES_META_KEY, type ServerContext } from '@modelcontextprotocol/server'

/** A client can be asked: its user by a form or by a page that it opens, its model, also with tools, and for its directories. */
export interface ClientForms {
  form: boolean
  url: boolean
  sampling: boolean
  tools: boolean
  roots: boolean
}

export const noForms: ClientForms = { form: false, url: false, sampling: false, tools: false, roots: false }

export function canBeAsked (forms: ClientForms): boolean {
  return Object.values(forms).includes(true)
}

/** Reads what a client says that it can. */
export function formsIn (capabilities: unknown): ClientForms {
  const { elicitation, sampling, roots }: Record<string, unknown> = isRecord(capabilities) ? capabilities : {}
  return {
    // Before there were pages, forms were not named.
    form: isRecord(elicitation) && (elicitation['form'] !== undefined || Object.keys(elicitation).length === 0),
    url: isRecord(elicitation) && elicitation['url'] !== undefined,
    sampling: isRecord(sampling),
    tools: isRecord(sampling) && sampling['tools'] !== undefined,
    roots: isRecord(roots)
  }
}

/** The same of the client of a request of 2026. */
export function formsOf ({ mcpReq: { envelope } }: ServerContext): ClientForms {
  return formsIn(isRecord(envelope) ? envelope[CLIENT_CAPABILITIES_META_KEY] : undefined)
}
