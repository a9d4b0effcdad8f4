import { existsSync } from 'node:fs'
import { config } from 'dotenv'

/** Reads `.env` in the working directory into `process.env`, where a variable that is set already wins. */
export function loadEnvFile (file = '.env'): void {
  if (existsSync(file)) config({ path: file, quiet: true })
}
