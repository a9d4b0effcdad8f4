/*
 * What every process needs of the contract and what has no schema in it: `@toolyard/contract/terms`. TypeBox is a third
 * of the code that a process loads, and only the HTTP service validates with it, so all others take this entry.
 */
export { limits, defaultQueue, isQueueName, queueNamePattern, publishableNamePattern } from './limits.ts'
export { httpErrors, callErrors, HttpError, type HttpErrorCode, type CallErrorCode, type CallError } from './errors.ts'
export { protocol } from './protocol.ts'
export { permissions, permissionsBeyond, type Permission, type PermissionPolicy } from './permissions.ts'
export { callbackHeaders } from './callback-headers.ts'
export { defaultTimeoutSec, jobLimits, type LimitSources } from './job-limits.ts'
export { isSecretVariable } from './secret-variables.ts'
export { skillArgumentFault } from './skill-argument.ts'
export { crlfText, firstLineBytes, noFirstLineText, readFirstLine, type FirstLine } from './first-line.ts'
export { lettersApart, nearName, nearNames } from './near-name.ts'
export { asError, errorCode } from './caught.ts'
export { storedJson } from './stored-json.ts'
export { isRecord } from './record.ts'
export { readTraceContext, traceIdsOf, traceVariables, type TraceContext } from './trace-context.ts'
export { isMcpTool, mcpDigest, mcpTool, mostMcpTools, type McpTool } from './mcp-tool.ts'
