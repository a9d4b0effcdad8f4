import { accept } from './commands/accept.ts'
import { api } from './commands/api.ts'
import { completion } from './commands/completion.ts'
import { doctor } from './commands/doctor.ts'
import { egress } from './commands/egress.ts'
import { explain } from './rules/explain.ts'
import { importCommand } from './commands/import.ts'
import { init } from './commands/init.ts'
import { keys } from './remote/operation/keys.ts'
import { start } from './commands/start.ts'
import { tools } from './commands/tools.ts'
import { validate } from './commands/validate.ts'
import { add, remove, rollback, update } from './commands/vendor.ts'
import { worker } from './commands/worker.ts'
import { batch } from './remote/batch.ts'
import { call } from './remote/call.ts'
import { files } from './remote/files.ts'
import { approvals } from './remote/operation/approvals.ts'
import { policy } from './commands/policy.ts'
import { jobs } from './remote/jobs.ts'
import { mcp } from './remote/mcp.ts'
import { open } from './remote/open.ts'
import { secrets } from './remote/operation/secrets.ts'
import { sessions } from './remote/sessions.ts'
import { workers } from './remote/operation/workers.ts'
import type { Command } from './terminal/command.ts'

/** The commands of `toolyard`, in the order of its help. */
export const commands: readonly Command[] = [
  init, start, call, batch, tools, jobs, approvals, policy, egress, sessions, files, mcp, open, validate, add, update, rollback, remove,
  accept, importCommand, explain, doctor, keys, secrets, workers, api, worker, completion
]
