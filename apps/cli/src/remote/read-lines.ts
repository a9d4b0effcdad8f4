/** The most that a line may have, in bytes; what is longer would fill the memory. */
const longestLine = 10 * 1_048_576

const lineEnd = 0x0a

/**
 * Reads a stream to its end and hands on each of its lines, without its end. What follows the last line end is no line.
 *
 * @throws what the stream throws, and for a line that is too long
 */
export async function readLines (stream: AsyncIterable<Uint8Array>, onLine: (line: string) => void): Promise<void> {
  let begun: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of stream) {
    let start = 0
    for (let end = chunk.indexOf(lineEnd); end !== -1; end = chunk.indexOf(lineEnd, start)) {
      onLine(Buffer.concat([...begun, chunk.subarray(start, end)]).toString())
      begun = []
      bytes = 0
      start = end + 1
    }
    begun.push(chunk.subarray(start))
    bytes += chunk.length - start
    if (bytes > longestLine) throw new Error(`a line of stdin is longer than ${longestLine} bytes`)
  }
}
