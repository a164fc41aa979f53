import { FrazilError } from '../base/errors.ts'

/** An answer of the catalog other than success: its status, and the exception that clients switch on (REST spec). */
export class CatalogError extends Error {
  readonly status: number
  readonly type: string
  constructor(status: number, type: string, message: string) {
    super(message)
    this.status = status
    this.type = type
  }
}

export const noSuchTable = (namespace: string, name: string): CatalogError =>
  new CatalogError(404, 'NoSuchTableException', `Table does not exist: ${namespace}.${name}`)
export const noSuchNamespace = (namespace: string): CatalogError =>
  new CatalogError(404, 'NoSuchNamespaceException', `Namespace does not exist: ${namespace}`)
export const forbidden = (sentence: string): CatalogError => new CatalogError(403, 'ForbiddenException', sentence)
export const badRequest = (sentence: string): CatalogError => new CatalogError(400, 'BadRequestException', sentence)
export const conflict = (sentence: string): CatalogError => new CatalogError(409, 'CommitFailedException', sentence)

export interface ErrorBody {
  readonly error: { readonly message: string; readonly type: string; readonly code: number }
}

/** The answer to an error. After CommitStateUnknown a client keeps its files, since nobody knows whether it won. */
export function errorAnswer(error: unknown): { readonly status: number; readonly body: ErrorBody } {
  const answer = (status: number, type: string, message: string): { status: number; body: ErrorBody } => ({
    status,
    body: { error: { message, type, code: status } },
  })
  if (error instanceof CatalogError) return answer(error.status, error.type, error.message)
  if (error instanceof FrazilError) {
    if (error.code === 'LOG_UNAVAILABLE')
      return answer(500, 'CommitStateUnknownException', 'it is not known whether the commit was written')
    if (error.code === 'REFUSED') return answer(409, 'CommitFailedException', error.message)
    if (error.code === 'CLOSED' || error.code === 'FENCED') return answer(503, 'ServiceUnavailableException', 'the broker is shutting down')
    if (error.code.startsWith('STORE_') || error.code === 'LOG_REFUSED')
      return answer(503, 'ServiceUnavailableException', 'the store cannot be reached now')
  }
  const status = (error as { statusCode?: unknown }).statusCode
  if (typeof status === 'number' && status >= 400 && status < 500) return answer(status, 'BadRequestException', (error as Error).message)
  return answer(500, 'InternalServerError', 'internal error')
}
