/** What the service answered or sent, as JSON: the service checks its answers, and this client has no schemas. */
export function answerOf<Answer> (text: string): Answer {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- See above.
  return JSON.parse(text) as Answer
}
