import { access, constants, stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'

/** Every executable file of that name on the PATH of `env`, in order. Relative entries of the PATH are passed over. */
export async function programPaths (name: string, env: NodeJS.ProcessEnv): Promise<string[]> {
  const directories = new Set((env['PATH'] ?? '').split(':').filter(directory => isAbsolute(directory)))
  const files = [...directories].map(directory => join(directory, name))
  const executable = await Promise.all(files.map(isExecutable))
  return files.filter((_, index) => executable[index])
}

async function isExecutable (file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK)
    return (await stat(file)).isFile()
  } catch {
    return false
  }
}
