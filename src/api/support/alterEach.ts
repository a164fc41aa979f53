import { Errors } from '../../../protocol/index.ts'
import type { ConfigError } from './topicConfigs.ts'

interface Resource {
  readonly resourceType: number
  readonly resourceName: string
}

/** What AlterConfigs and IncrementalAlterConfigs answer for one resource. */
export interface AlterAnswer extends Resource {
  readonly errorCode: number
  readonly errorMessage: string | null
}

/** `alter` gives null when it was done. A resource that a request names twice is refused both times. */
export function alterEach<R extends Resource>(
  resources: readonly R[],
  alter: (resource: R) => Promise<ConfigError | null>,
): Promise<AlterAnswer[]> {
  const times = new Map<string, number>()
  const keyOf = (resource: R): string => `${resource.resourceType}/${resource.resourceName}`
  for (const resource of resources) times.set(keyOf(resource), (times.get(keyOf(resource)) ?? 0) + 1)
  const answers = resources.map(async (resource) => {
    if (times.get(keyOf(resource))! > 1)
      return alterAnswer(resource, { error: Errors.INVALID_REQUEST, message: 'Each resource must appear at most once.' })
    return alterAnswer(resource, await alter(resource))
  })
  return Promise.all(answers)
}

export function alterAnswer({ resourceType, resourceName }: Resource, problem: ConfigError | null): AlterAnswer {
  return { errorCode: problem?.error ?? Errors.NONE, errorMessage: problem?.message ?? null, resourceType, resourceName }
}
