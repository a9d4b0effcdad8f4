import { examples } from './examples.ts'
import type { RouteDescription } from './route-description.ts'

const digest = '5f1c0e7a9b3d2c4f6a8e0b1d3c5f7a9e1b3d5c7f9a0e2b4d6c8f0a1e3b5d7c9f'
const approval = {
  state: 'held' as const,
  digest,
  reason: 'A person looks at payments above 500.',
  rule: 'args.amount > 500',
  approvers: 1,
  by: null,
  self: false,
  held_at: '2026-01-01T00:00:00.000Z',
  expires_at: '2026-01-02T00:00:00.000Z',
  changed: null,
  decisions: []
}
const about = {
  job_id: examples.job.id,
  tool: 'pay',
  type: 'agentcli.pay',
  queue: 'default',
  key: 'agent',
  tenant: null,
  session: null,
  conversation: null,
  submitted_at: '2026-01-01T00:00:00.000Z',
  status: 'held'
}
const detail = { ...about, arguments: { amount: 700 }, version: '0f3c5a7b9d1e', program_sha256: digest, previous: null, approval }

export const approvalDescriptions: Readonly<Record<string, RouteDescription>> = {
  'GET /v1/approvals': {
    id: 'approvals.list',
    tag: 'jobs',
    summary: 'List the calls that wait for an approval, the newest first',
    description: 'With the filters and pages of `GET /v1/jobs`, but `status`.',
    errors: [400],
    answers: {
      200: { description: 'The held calls.', example: { ok: true, approvals: [{ ...about, arguments_preview: '{"amount":700}', approval }], count: 1, next_cursor: null } }
    }
  },
  'GET /v1/approvals/:id': {
    id: 'approvals.read',
    tag: 'jobs',
    summary: 'Read what a held call would run',
    errors: [404],
    answers: { 200: { description: 'The call.', example: { ok: true, approval: detail } } }
  },
  'POST /v1/approvals/:id': {
    id: 'approvals.decide',
    tag: 'jobs',
    summary: 'Approve or deny a held call',
    description: 'Not for the key that submitted the call. A decision that comes too late, or about something else than what is held now, is a 409.',
    errors: [400, 404, 409, 413, 415],
    body: { decision: 'approve', digest, reason: null },
    answers: { 200: { description: 'The call, with the decision.', example: { ok: true, approval: { ...detail, status: 'queued', approval: { ...approval, state: 'approved' } } } } }
  }
}
