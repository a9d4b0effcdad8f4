import { bullmq } from '../../redis/bullmq.ts'
import { LockRenewal } from './lock-renewal.ts'
import type { TimedBackend } from './timed-backend.ts'

/** BullMQ's worker, made so that no clock but Redis' counts. */
export class TimedWorker<Data, Result, Backend extends TimedBackend> extends bullmq.Worker<Data, Result, string, Backend> {
  /** BullMQ calls this while the worker is made. */
  protected override createLockManager (): void {
    const { lockDuration = 0, lockRenewTime = lockDuration / 2 } = this.opts
    this.lockManager = new LockRenewal(this, lockDuration, lockRenewTime) as never
  }
}
