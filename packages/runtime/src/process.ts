import { SettingsError } from './settings.ts'

/** What a process of Toolyard tells the one that started it, over the IPC channel. */
export interface ReadyMessage {
  ready: true
  /** Where the API listens, such as `http://127.0.0.1:3001`. */
  address?: string
}

/** Tells the parent that this process serves; does nothing when nobody listens. */
export function tellParent (message: ReadyMessage): void {
  process.send?.(message)
}

/** Ends a process that could not start: a bad setting is told in its own words, anything else with its stack. */
export function exitWithMessage (error: unknown): never {
  console.error(error instanceof SettingsError ? error.message : error)
  process.exit(1)
}
