/*
 * The part of the contract that every process needs, without schemas: `@toolyard/contract/terms`. TypeBox is a third
 * of the code that a process loads, and only the HTTP service validates with it, so all others take this entry. The console
 * does too: nothing here needs Node.
 */
export {
  limits, isPublishableName, isQueueName, isTenantName, boundHostsRule, isKeyName, keyNameRule,
  queueNamePattern, tenantNamePattern, publishableNamePattern, roles,
  type Role
} from './terms/limits.ts'
export { callErrors, foreignCursor, HttpError, shortName, type CallErrorCode, type CallError } from './terms/errors.ts'
export { protocol } from './terms/protocol.ts'
export { permissions, permissionsBeyond, type Permission, type PermissionPolicy } from './terms/permissions.ts'
export { callbackHeaders } from './terms/callback-headers.ts'
export { jobLimits } from './terms/job-limits.ts'
export { isEnd, jobOrders, jobStates } from './jobs/job-states.ts'
export { isQuestionKind, questionKinds, type QuestionKind } from './terms/question-kinds.ts'
export { hiddenText, isSecretName, isSecretVariable, secretNamePattern } from './terms/secret-variables.ts'
export { boundedProgress, parseProgress, type Progress } from './terms/progress.ts'
export { skillArgumentFault } from './terms/skill-argument.ts'
export { crlfText, firstLineBytes, markedText, noFirstLineText, readFirstLine, type FirstLine } from './value/first-line.ts'
export { firstChars } from './value/first-chars.ts'
export { freeName } from './value/free-name.ts'
export { lettersApart, nearName, nearNames } from './value/near-name.ts'
export { asError, errorCode, orElse, thrownAs } from './value/caught.ts'
export { storedJson } from './value/stored-json.ts'
export { compareNumbers, isMultiple, isWhole, losesValue } from './json/decimal.ts'
export { mayLoseText, readJson, readJsonInTurns, readWhole } from './json/read-json.ts'
export { visible } from './json/visible.ts'
export { prettyJson, writeJson, writeThrough } from './json/write-json.ts'
export { around, holdsWritten, isWritten, lostText, numberText, setWritten, type Written, withNumbers, writtenAs, writtenLike, WrittenJson, WrittenNumber } from './json/written.ts'
export { FilePlaces, mostFileSteps, namesFiles, pathOf, withFiles, type FilePlace, type FileSearch } from './calls/file-places.ts'
export { findText, placesOf } from './value/find-text.ts'
export { grouped } from './value/grouped.ts'
export { isOfType, isRecord, withoutUndefined } from './value/record.ts'
export { mapTexts } from './value/map-texts.ts'
export { readTraceContext, traceIdsOf, traceVariables, type TraceContext } from './terms/trace-context.ts'
export { argumentHeaders, isMcpTool, listedTool, mcpTool, mcpToolFault, mostMcpTools, type McpTool } from './terms/mcp-tool.ts'
export { consoleHeader, consoleHeaderFor } from './terms/console-header.ts'
export { fragmentToken, pointerName, pointerTarget, pointerToken } from './terms/json-pointer.ts'
