import { serveThread } from '@toolyard/runtime/threads'
import { locateInText, readYamlText } from './yaml-text.ts'
import type { LocateTask, ReadTask } from './yaml.ts'

/** The thread that `yaml.ts` starts. */
serveThread({
  read: async ({ text, expansion }: ReadTask) => await Promise.resolve({ answer: readYamlText(text, expansion) }),
  locate: async ({ text, paths }: LocateTask) => await Promise.resolve({ answer: locateInText(text, paths) })
})
