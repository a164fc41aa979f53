/**
 * Bit fields of what a client may do, one bit an AclOperation code. There are no ACLs yet, so everything that the kind of
 * resource supports is allowed (K: AclEntry.supportedOperations).
 */
const bits = (...operations: number[]): number => operations.reduce((field, operation) => field | (1 << operation), 0)

const READ = 3
const WRITE = 4
const CREATE = 5
const DELETE = 6
const ALTER = 7
const DESCRIBE = 8
const CLUSTER_ACTION = 9
const DESCRIBE_CONFIGS = 10
const ALTER_CONFIGS = 11
const IDEMPOTENT_WRITE = 12

export const TOPIC_OPERATIONS = bits(READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS)
export const GROUP_OPERATIONS = bits(READ, DELETE, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS)
export const CLUSTER_OPERATIONS = bits(CREATE, ALTER, DESCRIBE, CLUSTER_ACTION, DESCRIBE_CONFIGS, ALTER_CONFIGS, IDEMPOTENT_WRITE)
/** The client did not ask. */
export const OPERATIONS_NOT_ASKED = -2147483648
