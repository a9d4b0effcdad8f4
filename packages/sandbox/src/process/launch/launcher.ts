import type { Marks } from '../table/mark.ts'
import type { Launcher } from './child.ts'
import { createDirectLauncher } from './direct-launcher.ts'
import { createHelperLauncher } from './helper-launcher.ts'
import type { HelperPlace } from './helper-process.ts'

/**
 * The launcher for this machine: through a helper on Linux, else, and where the helper can't work (no mkfifo, a /proc
 * that shows nothing), directly.
 *
 * @param members files of the control groups that processes belong to
 */
export function createLauncher (marks: Marks, place: HelperPlace, members: readonly string[]): Launcher {
  const direct = createDirectLauncher(marks)
  if (process.platform !== 'linux') return direct
  let chosen: Launcher = createHelperLauncher(marks, place, members)
  let tried: Promise<void> | undefined
  const choose = async (): Promise<void> => {
    tried ??= chosen.prepare().catch(async () => {
      await chosen.close()
      chosen = direct
    })
    await tried
  }
  return {
    async launch (request) {
      await choose()
      return await chosen.launch(request)
    },
    prepare: choose,
    close: async () => { await chosen.close() }
  }
}
