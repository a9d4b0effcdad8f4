/** Bounds of the contract. Sizes are bytes, times are milliseconds, unless the name says otherwise. */
export const limits = {
  /** Calls in one batch. */
  calls: { min: 1, max: 20 },
  /** UTF-16 units of a `call_id`. */
  callIdLength: 120,
  /** UTF-16 units of a call's id in a provider's message: some put into it what the model thought. */
  messageCallIdLength: 16_384,
  /** How long a sync batch waits. */
  waitMs: { min: 100, max: 60_000, default: 15_000 },
  /** Request body. */
  bodyBytes: 1_048_576,
  /** Levels of nesting in a request body; deeper bodies would exhaust the stack of a serializer. */
  bodyDepth: 100,
  /** Objects, lists and named fields in a request body: a megabyte of small ones takes a parser a tenth of a second. */
  bodyParts: 30_000,
  /** UTF-16 units of `JSON.stringify(output)` that an answer carries whole. */
  outputChars: 12_000,
  /** The same where a request says it. */
  maxOutputChars: { min: 1_000, max: 200_000 },
  /**
   * UTF-16 units that the texts of skills may take in a prompt; beyond them Agent Skills are read on demand. An answer with the
   * text or a file of a skill has as many: models follow instructions that end too early.
   */
  skillChars: 65_536,
  /** An output whose JSON is longer is stored once, beside the job, instead of travelling with it. */
  inlineOutputBytes: 4_096,
  /** Levels of nesting in a tool's output; deeper JSON is kept as text. */
  outputDepth: 500,
  /** Files that a result names. */
  resultFiles: 100,
  /** UTF-16 units of a tool's error message. */
  errorMessageChars: 8_192,
  toolTimeoutSec: { default: 30, max: 3_600 },
  /** Public priority, higher first. */
  priority: { min: 0, max: 10, default: 5 },
  /** Execution timeout that a submitter or a job type may ask for, in whole seconds. */
  jobTimeoutSec: { min: 1, max: 3_600 },
  /** Runs of one job that may fail before it has failed. */
  attempts: { min: 1, max: 10, default: 1 },
  /** Processes of one tool that may wait ready in each worker. */
  warm: { min: 0, max: 64 },
  /** Tags of a job beyond `max` are dropped; `length` counts characters. */
  tags: { max: 20, length: 80 },
  /** How long a job may wait before it is due: a week. */
  delayMs: { min: 0, max: 604_800_000 },
  /** Jobs that one job may depend on. */
  dependencies: 100,
  /** Steps of a workflow, and bytes of the file that it stands in. */
  workflow: { steps: 100, fileBytes: 262_144 },
  /** Jobs in one answer of `GET /v1/jobs`. */
  jobPage: { min: 1, max: 200, default: 50 },
  /** UTF-16 units of a text that jobs are looked for by. */
  searchChars: 200,
  /** How far back `GET /v1/stats` goes: a day. */
  statisticsMinutes: { min: 1, max: 1_440, default: 60 },
  /** Entries in one listing of a directory. */
  filePage: { min: 1, max: 1_000, default: 200 },
  /** How long an API key of `POST /v1/keys` may be good for, in seconds: a minute to ten years. */
  keyExpirySec: { min: 60, max: 315_360_000 },
  /** Of a session: seconds without a call until it is removed, a month at most, and what its files may take. */
  session: { ttlSec: { min: 1, max: 2_592_000 }, quotaBytes: { min: 1, max: 1_125_899_906_842_624 } },
  /** How long a held call can be approved, in seconds: a month at most, a day where its rule doesn't say. */
  approvalSec: { min: 1, max: 2_592_000, default: 86_400 },
  /** UTF-16 units of the JSON of arguments that lists show. */
  previewChars: 500,
  /** UTF-16 units of what is said with a decision about a held call. */
  decisionChars: 1_000,
  /** Questions of a job; of each, UTF-16 units of its text and of the JSON of schema and parameters, and seconds for an answer. */
  question: { most: 10, textChars: 2_000, schemaChars: 8_000, paramsChars: 32_000, answerSec: 86_400 },
  /** UTF-16 units of the JSON of an answer. */
  answerChars: 32_000,
  /** Characters of the name of a conversation. */
  conversationLength: 200,
  idempotencyKeyLength: 255,
  /** How long an `Idempotency-Key` is remembered, in seconds. */
  idempotencySec: 86_400,
  callbackUrlLength: 2_048,
  /** How often one callback may be sent before it is given up. */
  callbackAttempts: 20,
  /** Lines of a job's log that are kept; the oldest go first. */
  logLines: 2_000,
  /** UTF-16 units of a line in a job's log. */
  logMessageChars: 4_096,
  /** UTF-16 units of the text of a job's progress. */
  progressChars: 200,
  toolSearch: { queryChars: 1_000, results: { min: 1, max: 50, default: 5 } },
  /** UTF-16 units of the name of a namespace. */
  namespaceChars: 200,
  /** UTF-16 units of the names that a request pins. */
  pinnedChars: 4_000,
  /** Namespaces that a key may be bound to. */
  keyNamespaces: 100,
  /** Entries of the list of hosts that bounds a key or a tenant. */
  boundHosts: 100,
  /** Lines that one request of a job's log gets. */
  logTail: { min: 1, max: 2_000, default: 200 }
} as const

export const defaultQueue = 'default'
export const queueNamePattern = '^[a-z0-9._:-]{1,80}$'
const queueName = new RegExp(queueNamePattern)
export const isQueueName = (text: string): boolean => queueName.test(text)

/** `read` looks; `approver` decides about held calls, too; `admin` does everything. */
export const roles = ['read', 'approver', 'admin'] as const
export type Role = typeof roles[number]

export const tenantNamePattern = '^[a-z0-9][a-z0-9._-]{0,63}$'
const tenantName = new RegExp(tenantNamePattern)
export const isTenantName = (value: unknown): value is string => typeof value === 'string' && tenantName.test(value)
/** Names of access tokens begin with `oauth:`, and owners of jobs that are tenants with `@`. */
export const keyNamePattern = '^(?!oauth:|auth-disabled$|\\.{1,2}$)[^\\s@\\x00-\\x1f\\x7f](?:[^\\x00-\\x1f\\x7f]{0,98}[^\\s\\x00-\\x1f\\x7f])?$'
const keyName = new RegExp(keyNamePattern, 'u')
/** The same for people. */
export const keyNameRule = 'must have 1 to 100 characters, no control characters, no white space at an end, no @ or oauth: in front, and not be auth-disabled, . or ..'
/** Whether a value names an API key. Half of a character is in no name: no URL can have it. */
export const isKeyName = (value: unknown): value is string => typeof value === 'string' && keyName.test(value) && !/\p{Cs}/u.test(value)
export const templateNamePattern = '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'
/** Tools with other names aren't published to models. */
export const publishableNamePattern = '^[a-zA-Z0-9_-]{1,64}$'
const publishableName = new RegExp(publishableNamePattern)
export const isPublishableName = (name: string): boolean => publishableName.test(name)

export const boundHostsRule = `must be an array of at most ${limits.boundHosts} hosts such as api.example.com, *.example.com:443, 10.0.0.5:5432`
