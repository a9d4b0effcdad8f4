/** An address that a server is to listen at, and the setting that its port is from. */
export interface ListenPlace {
  host: string
  port: number
  setting: 'PORT' | 'METRICS_PORT'
  /** Typed behind a new value. */
  command?: string
}

/** For the person who started the server: it names the setting and has the remedy. */
export function listenFailure (error: NodeJS.ErrnoException, place: ListenPlace): Error {
  return new Error(explain(error, place), { cause: error })
}

function explain ({ code, message }: NodeJS.ErrnoException, { host, port, setting, command }: ListenPlace): string {
  const again = command === undefined ? '' : ` ${command}`
  if (code === 'EADDRINUSE') return `port ${port} on ${host} is in use. Stop the program that uses it, or choose another: ${setting}=${port + 1}${again}`
  if (code === 'EACCES') return `this user may not listen on port ${port}. Choose one above 1023: ${setting}=${setting === 'PORT' ? 3001 : 9090}${again}`
  return `can't listen on ${host}:${port} (${code ?? message}). HOST must be an address of this machine, such as 127.0.0.1 or 0.0.0.0`
}
