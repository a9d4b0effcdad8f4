import { errorCode } from '@toolyard/contract/terms'
import { isShortage } from '../plan/start-error.ts'
import type { Marks } from '../table/mark.ts'
import type { Launcher } from './child.ts'
import { createDirectLauncher } from './direct-launcher.ts'
import { createHelperLauncher } from './helper-launcher.ts'
import type { HelperPlace } from './helper-process.ts'

/**
 * The launcher for this machine: through a helper on Linux, else, and where the helper can't work (no mkfifo, a /proc
 * that shows nothing), directly. What the machine is out of for a moment fails only the starts of that moment.
 *
 * @param members files of the control groups that processes belong to
 * @param onDirect gets a code that says why there is no helper
 */
export function createLauncher (
  marks: Marks, place: HelperPlace, members: readonly string[], onDirect: (code: string) => void = () => {}
): Launcher {
  const direct = createDirectLauncher(marks)
  if (process.platform !== 'linux') return direct
  let chosen: Launcher = createHelperLauncher(marks, place, members)
  let tried: Promise<void> | undefined
  const choose = async (): Promise<void> => {
    tried ??= chosen.prepare().catch(async (error: unknown) => {
      await chosen.close()
      tried = undefined
      if (isShortage(error)) throw error
      onDirect(errorCode(error) ?? 'unknown')
      chosen = direct
    })
    await tried
  }
  return {
    async launch (request) {
      await choose()
      return await chosen.launch(request)
    },
    // The first start tries again.
    prepare: async () => { await choose().catch(() => {}) },
    close: async () => { await chosen.close() }
  }
}
