import { parentPort } from 'node:worker_threads'
import { locateInText, readYamlText } from './yaml-text.ts'
import type { YamlTask } from './yaml.ts'

/** The thread that `yaml.ts` starts. */
parentPort?.on('message', (task: YamlTask) => {
  parentPort?.postMessage(task.kind === 'read' ? readYamlText(task.text, task.expansion) : locateInText(task.text, task.paths))
})
