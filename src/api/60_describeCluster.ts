/**
 * DescribeCluster (60): cluster id, controller, nodes (KIP-700). Served v0–2.
 *
 * - Endpoint type 1, brokers, is what listeners here are; 2, controllers: MISMATCHED_ENDPOINT_TYPE; any other:
 *   UNSUPPORTED_ENDPOINT_TYPE (KIP-919).
 * - There is no controller; the first live node is named, as any can change the metadata.
 * - Nodes that left are not shown, so none is ever fenced (v2, KIP-1073).
 *
 * v0 is flexible · v1 endpoint type · v2 fenced nodes.
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'
import { CLUSTER_OPERATIONS } from './support/authorizedOperations.ts'

export default serve(60, { min: 0, max: 2 }, { handle, fail: (_request, error) => failed(error, null) })

const BROKERS = 1
const CONTROLLERS = 2

function handle(request: RequestOf<60>, context: RequestContext, parts: ApiParts): ResponseOf<60> {
  if (request.endpointType === CONTROLLERS) {
    return failed(
      Errors.MISMATCHED_ENDPOINT_TYPE,
      'The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER',
    )
  }
  if (request.endpointType !== BROKERS) return failed(Errors.UNSUPPORTED_ENDPOINT_TYPE, `Unsupported endpoint type ${request.endpointType}`)
  const nodes = parts.nodes(context.connection.listener)
  return {
    throttleTimeMs: 0,
    errorCode: Errors.NONE,
    errorMessage: null,
    clusterId: parts.metadata.state.clusterId,
    controllerId: nodes[0].nodeId,
    brokers: nodes.map(({ nodeId, host, port, rack }) => ({ brokerId: nodeId, host, port, rack })),
    ...(request.includeClusterAuthorizedOperations ? { clusterAuthorizedOperations: CLUSTER_OPERATIONS } : {}),
  }
}

function failed(errorCode: number, errorMessage: string | null): ResponseOf<60> {
  return { throttleTimeMs: 0, errorCode, errorMessage, clusterId: '', brokers: [] }
}
