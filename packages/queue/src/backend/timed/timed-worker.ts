import { bullmq } from '../../record/bullmq.ts'
import { LockRenewal, type LockHolder } from './lock-renewal.ts'
import type { TimedBackend } from './timed-backend.ts'

/** BullMQ's worker, made so that no clock but Redis' counts. */
export class TimedWorker<Data, Result, Backend extends TimedBackend> extends bullmq.Worker<Data, Result, string, Backend> {
  /** BullMQ calls this while the worker is made. */
  protected override createLockManager (): void {
    const { lockDuration = 0, lockRenewTime = lockDuration / 2 } = this.opts
    const holder: LockHolder = {
      extendJobLocks: async (...locks) => await this.extendJobLocks(...locks),
      lost: ids => { this.emit('lockRenewalFailed', ids) },
      failed: error => { this.emit('error', error) }
    }
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- It has what BullMQ calls; its class has more.
    this.lockManager = new LockRenewal(holder, lockDuration, lockRenewTime) as never
  }

  /** Call it before a job is given back: from then on nobody is told that its lock is gone. */
  leaveJob (id: string): void {
    this.locks.leaveJob(id)
  }

  protected get locks (): LockRenewal {
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- It was made above.
    return this.lockManager as unknown as LockRenewal
  }
}
