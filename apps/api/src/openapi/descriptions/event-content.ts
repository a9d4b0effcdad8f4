import type { TSchema } from 'typebox'
import { Type } from '@toolyard/contract/type'

export const events = (names: readonly string[]): Record<string, { schema: TSchema }> => ({
  'text/event-stream': { schema: Type.String({ description: `Server-sent events: ${names.join(', ')}; the data of each is JSON.` }) }
})
