/** One hit of a web search. */
export interface WebResult {
  title: string
  url: string
  snippet: string
}

/** How one search service is asked, and how its answer reads. */
export interface SearchProvider {
  request (query: string, count: number): { url: URL, headers: Record<string, string> }
  /** Reads the body of a 200; empty for one that has no results. @throws Error for one that isn't an answer. */
  results (body: string): WebResult[]
}
