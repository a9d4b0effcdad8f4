import type { BullBoardQueues, ControllerHandlerReturnType } from '@bull-board/api/typings/app'
import { fromRedis } from '@toolyard/store'

/** A job of a flow, as bull-board finds it. Its other fields have the outputs of tools, unredacted. */
interface FlowNode {
  id: string
  name: string
  state: string
  /** The public name where the viewer may see the queue, else BullMQ's own, which is no public name. */
  queueName: string
  children: FlowNode[]
  dependencies?: Record<string, number>
  truncated?: boolean
}

/** Leaves of a flow what its viewer may see: jobs of the queues that are shown, and none of their outputs. */
export function shownFlow (answer: ControllerHandlerReturnType, queues: BullBoardQueues): ControllerHandlerReturnType {
  const body = fromRedis<{ nodeId: string, flowRoot?: FlowNode | null } | undefined>(answer.body)
  if (body?.flowRoot === undefined || body.flowRoot === null) return answer
  const flowRoot = queues.has(body.flowRoot.queueName) ? shownNode(body.flowRoot, queues) : null
  return { ...answer, body: { nodeId: body.nodeId, isFlowNode: (flowRoot?.children.length ?? 0) > 0, flowRoot } }
}

function shownNode ({ id, name, state, queueName, children, dependencies, truncated }: FlowNode, queues: BullBoardQueues): FlowNode {
  const shown = children.filter(child => queues.has(child.queueName))
  return {
    id,
    name,
    state,
    queueName,
    children: shown.map(child => shownNode(child, queues)),
    // The counts tell of jobs in queues that aren't shown.
    ...(dependencies === undefined || shown.length < children.length ? {} : { dependencies }),
    ...(truncated === undefined ? {} : { truncated })
  }
}
