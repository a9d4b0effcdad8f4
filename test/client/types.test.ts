import type * as client from '@toolyard/client'
import type * as contract from '@toolyard/contract'
import t from 'tap'

/** Each can stand for the other, and neither has a field that the other lacks. */
type Same<A, B> = [A, B, keyof A, keyof B] extends [B, A, keyof B, keyof A] ? true : never

/** Doesn't compile when a type of the client and one of the contract differ. */
const same: Record<string, true> = {
  JobView: true satisfies Same<client.JobView, contract.JobView>,
  JobSummary: true satisfies Same<client.JobSummary, contract.JobSummary>,
  JobList: true satisfies Same<client.JobList, contract.JobList>,
  LogEntry: true satisfies Same<client.LogEntry, contract.LogEntry>,
  JobState: true satisfies Same<client.JobState, contract.JobState>,
  NewJob: true satisfies Same<client.NewJob, contract.SubmitJobRequest>,
  ApprovalItem: true satisfies Same<client.ApprovalItem, contract.ApprovalItem>,
  ApprovalDetail: true satisfies Same<client.ApprovalDetail, contract.ApprovalDetail>,
  SessionView: true satisfies Same<client.SessionView, contract.SessionView>,
  SecretView: true satisfies Same<client.SecretView, contract.SecretView>,
  FileList: true satisfies Same<client.FileList, contract.FileList>,
  CallResult: true satisfies Same<client.CallResult, contract.CallResult>,
  HttpErrorCode: true satisfies Same<client.HttpErrorCode, contract.HttpErrorCode>,
  CallErrorCode: true satisfies Same<client.CallErrorCode, contract.CallErrorCode>
}

for (const [name, agrees] of Object.entries(same)) {
  t.test(`the type ${name} of the client agrees with the contract`, async t => { t.ok(agrees) })
}
