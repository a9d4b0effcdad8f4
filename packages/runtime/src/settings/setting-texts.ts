/**
 * A text for each setting, by groups: docs/reference/settings.md is made of this and of `variables`. Links lead from docs.
 * Nothing at run time needs it.
 */
export const settingTexts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'The service': {
    HOST: 'address that the API listens on',
    PORT: 'its port; 0 takes a free one',
    BASE_PATH: 'path below which a reverse proxy serves Toolyard, such as `/toolyard`, whether it takes it off or not',
    TRUST_PROXY: 'reverse proxies whose `X-Forwarded-For`, `-Proto` and `-Host` count: addresses, ranges, `loopback`, `linklocal`, `uniquelocal`',
    LOG_LEVEL: 'how much the log tells. It is JSON lines, and readable text where it goes to a terminal',
    METRICS_PORT: "port of its own for `/metrics`, `/health` and `/ready`, without a key; the workers of `npm start` have the next one. Unset: on the API's port, for admin keys without `queue_allowlist`, and none on workers",
    SHUTDOWN_DELAY_SEC: 'how long the API serves on after SIGTERM while `/ready` says no, in seconds; 0 with `npm start`',
    SHUTDOWN_GRACE_SEC: 'time for running calls after that, in seconds; a second signal ends them at once',
    MAX_EVENT_LOOP_DELAY_MS: 'while the event loop of an API process is later than this for a second or more, it takes no new calls or jobs, lists none (503), and `/ready` says so; `0` for never',
    DASHBOARD: '`off`: there is no `/dashboard`'
  },
  Redis: {
    REDIS_URL: '`redis://`, `rediss://` or `unix:/path`; without it `npm start` runs an embedded Redis',
    REDIS_SENTINELS: '`host:port,...` of Sentinels, in place of `REDIS_URL` ([redis.md](redis.md))',
    REDIS_MASTER_NAME: 'the master that they watch',
    REDIS_SENTINEL_USERNAME: 'user at the Sentinels',
    REDIS_SENTINEL_PASSWORD: 'password at the Sentinels',
    REDIS_CLUSTER_NODES: '`host:port,...` of nodes of a Redis Cluster, in place of `REDIS_URL`',
    REDIS_USERNAME: 'ACL user, where `REDIS_URL` has none',
    REDIS_PASSWORD: 'its password',
    REDIS_TLS: 'TLS to Sentinels, their master and clusters, and to one server as `rediss://` has it',
    REDIS_TLS_CA: 'file with the certificate that signed the servers\', in PEM',
    REDIS_TLS_CERT: 'file with the client\'s certificate',
    REDIS_TLS_KEY: 'file with the client\'s key',
    REDIS_WAIT_REPLICAS: "how many replicas of Redis must have a job before it is acknowledged, and know that a tool begins that isn't idempotent, before it runs; `auto`: all that keep up (see [redis.md](redis.md#failover))",
    ALLOW_UNSAFE_REDIS: 'whether to work on a Redis that drops jobs when it is full'
  },
  'Keys and tokens': {
    API_KEY: 'one admin key; `npm start` makes one and stores it in `.env`',
    API_KEYS_JSON: 'several keys, instead of `API_KEY`: `[{"name", "key", "role": "admin", "approver" or "read", "tenant"?, "queue_allowlist"?, "permissions"?, "namespaces"?, "hosts"?, "sse"?}]`',
    API_AUTH_DISABLED: '`1`: no keys at all; only without any key, and on loopback',
    MCP_AUTH_ISSUER: 'OAuth issuer whose access tokens `/mcp` takes beside the keys ([mcp.md](mcp.md#access-tokens))',
    MCP_AUTH_RESOURCE: 'URL of `/mcp` as clients know it, which also tells MCP clients where the console is. Unset: the one that the API listens on, on loopback alone',
    MCP_AUTH_AUDIENCE: 'what its tokens have in `aud`. Unset: the value of `MCP_AUTH_RESOURCE`',
    MCP_AUTH_TENANT_CLAIM: 'claim of a token that names its tenant ([tenants.md](tenants.md)). Unset: tokens are the operator\'s',
    MCP_AUTH_SCOPES: 'which scope of a token stands for which role. Unset: `read=toolyard:read,admin=toolyard:admin`'
  },
  Tools: {
    TOOL_MANIFESTS: 'manifests in order, comma-separated. Unset: with `toolyard start` the `tools.json` of its directory, or else the bundled samples; an API or worker has the built-in tools alone, and says so',
    POLICY_FILE: 'a JSON file with rules on the calls of all tools ([approvals.md](approvals.md)); a change of it counts within a second',
    LOCK: '`require`: only what `toolyard.lock.json` has is served, as it has it; `auto`: what differs from it is told',
    TRUSTED_KEYS: 'public keys of minisign, comma-separated, that archives and the lock may be signed by; with `LOCK=require` the lock must be',
    WORKSPACE_DIR: 'root of the built-in file tools, working directory of tools',
    TOOL_TIMEOUT_SEC: 'execution timeout of tools that set none, in seconds',
    TOOL_DEFAULT_PERMISSIONS: 'permissions of tools whose manifest names none; `none` for none',
    CATALOGUE_LIST_MAX: 'tools beside which a list has `search_tools` and `call_tool`, and that one page of a list of MCP has ([catalogues.md](catalogues.md))',
    EGRESS_ALLOWED: 'bounds the hosts of all tools: those of `network` lists, of HTTP tools and of MCP servers, as in `network` of a manifest. Any list but `*` also refuses tools whose permission `network` opens every host',
    PERMISSIONS_ALLOWED: "permissions that tools may hold here: `read_repo`, `write_files`, `network`; `none` for none. A tool that needs more isn't listed",
    SANDBOX: '`require`: no start without the whole sandbox; `auto`: as much of it as the machine has; `off`: none ([security.md](security.md))',
    PROGRAMS_STRICT: "tools don't run whose programs others than the owner may replace; also `--strict` of `toolyard start`, `api` and `worker`",
    MAX_OUTPUT_BYTES: 'what is kept of one output, in bytes; the rest is counted',
    HTTP_PRIVATE_HOSTS: 'hosts with addresses inside that HTTP tools and MCP servers of manifests may have, comma-separated: names, each with its subdomains, addresses, or `*` ([http-entries.md](http-entries.md), [mcp-servers.md](mcp-servers.md))',
    AUDIT_DIR: 'one NDJSON file a day (UTC), one line for each process that ran',
    REDACT: "regular expressions, separated by `,` or `;` and so without them, whose matches the audit and the dashboard replace; one that doesn't compile is taken as text"
  },
  Skills: {
    SKILLS_ALLOW_SCRIPTS: 'whether files of the `scripts/` of skills may run: with `skill_run`, and to resolve values',
    SKILL_PROGRAMS: 'programs that `skill_run` may run beside scripts, comma-separated: names on the `PATH`, such as `python3`',
    SKILLS_SHELL: 'whether `skill_run` takes shell command lines',
    SKILLS_CONTEXT_MODE: "`readOnDemand`: models read a skill's text with the tool `read_skill`",
    SKILLS_ENABLED: 'names of the skills that are loaded, comma-separated',
    SKILLS_DISABLED: 'names of the skills that are not loaded'
  },
  'Built-in tools': {
    WORKSPACE_DELETE_ENABLED: 'whether `workspace_delete` is there',
    TOOL_EXEC_ENABLED: 'whether `tool_exec` is there',
    TOOL_EXEC_ALLOWLIST: 'programs that it may run, comma-separated: absolute paths, or names on the `PATH`',
    DATA_FETCH_ENABLED: 'whether `data_fetch` is there',
    DATA_FETCH_ALLOWLIST: 'domains that it may read, with their subdomains; `*` for every public host',
    DATA_FETCH_ALLOW_HTTP: '`http:` beside `https:`',
    DATA_FETCH_ALLOW_PRIVATE: 'addresses inside too: private, loopback, link-local',
    WEB_SEARCH_ENABLED: 'whether `tools_web_search` is there; it asks DuckDuckGo where neither of the next two is set',
    WEB_SEARCH_BRAVE_KEY: 'key of Brave\'s search API, which is asked then',
    WEB_SEARCH_SEARXNG_URL: 'address of a SearXNG server, its JSON format switched on; it is asked then, also beside Brave'
  },
  'Workers and queues': {
    WORKER_QUEUES: 'queues that a worker serves, comma-separated; `*` is all, also those to come',
    WORKER_CONCURRENCY: 'calls that one worker process runs at once, for each queue',
    WORKER_TOTAL_CONCURRENCY: 'calls that one worker process runs at once, over all queues, which share the places fairly ([operations.md](operations.md#sizing)). Unset: any number of queues, each with its own places',
    WORKER_PROCESSES: 'worker processes that `toolyard worker` and `npm start` run',
    BOX_STOCK_MB: 'memory that boxes which are made ahead of calls may take in each worker, in MB ([command-tools.md](command-tools.md#boxes-that-wait)); about 1 MB each; `0`: each call makes its own',
    WARM_MAX_MB: 'memory that processes which wait ready may take in each worker, in MB ([command-tools.md](command-tools.md#kept-ready)); `0`: none wait',
    WARM_MAX_IDLE_SEC: 'seconds after which a process that waits ready is replaced',
    MAX_QUEUES: 'queues that may exist',
    MAX_QUEUE_DEPTH: 'jobs that may wait in one queue; a call beyond them is answered `QUEUE_FULL`, a job 429, with `Retry-After`',
    JOB_RETENTION_SEC: 'how long a finished job is kept, in seconds; workers remove older ones every ten seconds',
    JOB_RETENTION_COUNT: 'finished jobs that are kept of each queue: so many that succeeded, and so many that failed'
  },
  'Callers, tenants and sessions': {
    MAX_JOBS_PER_KEY: 'unfinished jobs of one API key, or of one tenant, over all queues and API processes, and as many of its [callbacks](callbacks.md) that their receivers have not taken; answered in the same way; `0` for any number',
    RATE_LIMIT_PER_MINUTE: 'requests below `/v1` and to `/mcp` of one API key, or of one tenant, in a minute, over all API processes; beyond them 429 with `Retry-After`; `0` for any number',
    TENANT_LIMITS_JSON: 'limits of tenants: `{"acme": {"max_jobs"?, "rate_limit_per_minute"?, "max_running"?, "max_session_bytes"?, "hosts"?}, "*": {...}}`: other values of the two above, calls that run at once, bytes that the quotas of its sessions come to, and the hosts that tools may reach for it, as in `network` of a manifest; `*` is for those that are not named',
    SESSIONS: '`require` refuses calls that name no [session](sessions.md)',
    SESSIONS_DIR: 'where sessions have their directories; all workers need the same, outside of the workspace. Unset: `sessions` beside the workspace',
    SESSION_TEMPLATES_DIR: 'directories that sessions may begin as, by name. Unset: none',
    SESSION_TTL_SEC: 'seconds without a call after which a session is removed, where it sets none',
    SESSION_QUOTA_BYTES: 'bytes that the files of a session may take, at most'
  },
  'Streams and callbacks': {
    MAX_STREAMS: 'event streams that one API process holds open',
    SSE_HEARTBEAT_SEC: 'time between the heartbeats of an event stream, in seconds; a reader that is stuck for as long is dropped',
    SSE_TOKEN_TTL_SEC: 'how long a stream ticket is valid, in seconds',
    SECRETS_KEY: 'seals stored secrets ([secrets.md](secrets.md)): the same for the API and the workers. Without it none can be stored',
    SECRETS_KEY_PREVIOUS: 'opens what was sealed with it before the key was changed, until `toolyard secrets rotate`',
    SECRETS_DIR: 'a directory of files that are [secrets](secrets.md#from-files) of the operator, each under its name; workers read it',
    SECRETS_VAULT_URL: 'where [secrets](secrets.md#from-vault) of the operator are in HashiCorp Vault or OpenBao, engine KV version 2; workers ask it',
    SECRETS_VAULT_TOKEN_PATH: 'a file with the token for it, read for each request',
    CALLBACK_SECRET: 'signs callbacks; without it, or without the allowlist, there are none ([callbacks.md](callbacks.md))',
    CALLBACK_ALLOWLIST: 'hosts that may be called back, with their subdomains; `*` for every public host',
    CALLBACK_ALLOW_HTTP: '`http:` beside `https:`',
    CALLBACK_ALLOW_PRIVATE: 'addresses inside too: private, loopback, link-local',
    CALLBACK_ATTEMPTS: 'how often a callback is sent before it is given up, at most 20; the pauses double from 1 s',
    APPROVAL_CALLBACK_URL: 'who is told of all [held calls](approvals.md#who-is-told), by signed callbacks; its host must be in the allowlist'
  },
  Traces: {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'address of the collector, such as `http://127.0.0.1:4318`; `/v1/traces` is added where it is missing ([traces.md](traces.md)). Unset: there are no traces',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'or `http/json`',
    OTEL_EXPORTER_OTLP_HEADERS: 'headers for the collector, `name=value`, comma-separated, percent-encoded where needed'
  }
}
