import { parentPort, workerData } from 'node:worker_threads'
import { locateInText, readYamlText } from './yaml-text.ts'
import type { YamlTask } from './yaml.ts'

/** The thread that `yaml.ts` starts for one task. */
// eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- `yaml.ts` sends it.
const task = workerData as YamlTask
parentPort?.postMessage(task.kind === 'read' ? readYamlText(task.text) : locateInText(task.text, task.paths))
