export interface WebResult {
  title: string
  url: string
  snippet: string
}

/** How one search service is asked. */
export interface SearchProvider {
  request (query: string, count: number): { url: URL, headers: Record<string, string> }
}

/** Results of an answer that are looked at: some have no address, and no call gets more than 20. */
export const mostResults = 200
