/**
 * What a store knows of an object. `etag` is opaque and changes with every write of other bytes; where the store makes it of
 * the bytes (S3), writing equal bytes again may leave it as it was.
 */
export interface ObjectInfo {
  readonly key: string
  readonly sizeBytes: number
  readonly etag: string
}

/** A byte range: [start, end). A negative `start` with no `end` is a suffix of -start bytes. */
export interface ByteRange {
  readonly start: number
  readonly end?: number
}

export interface GetResult extends ObjectInfo {
  /** Freshly allocated for the caller, who may change it. */
  readonly body: Buffer
}

/** Bytes of an object: one buffer, or several that are written one after the other without being joined. */
export type Body = Uint8Array | readonly Uint8Array[]

/** Why a request was made; a label of `frazil_store_requests_total{kind,reason}`. */
export type Reason = 'wal' | 'segment' | 'table' | 'metadata' | 'log' | 'fetch' | 'convert' | 'maintain' | 'probe'

export interface Options {
  readonly reason?: Reason
}

/** An upload in parts; parts are numbered from 1 and may be sent in any order. Nothing is visible before `complete`. */
export interface MultipartUpload {
  putPart(part: number, body: Body): Promise<void>
  /** Server-side copy of a range of an object of the same store. */
  copyPart(part: number, sourceKey: string, range: ByteRange): Promise<void>
  /** With `ifAbsent`, null when the key already exists (nothing changed). */
  complete(options?: { readonly ifAbsent?: boolean }): Promise<ObjectInfo | null>
  abort(): Promise<void>
}

/**
 * Bytes by key. Keys are relative, `/`-separated, without empty, `.` or `..` segments, each segment at most 255 bytes
 * of UTF-8 without control characters. A write is durable and whole once its promise resolves, and readers see either
 * all of it or nothing.
 *
 * Errors: STORE_NOT_FOUND (get, head, copyPart), STORE_UNAVAILABLE (no effect; retry), STORE_UNKNOWN (a write that may or
 * may not have happened: read back), STORE_FULL, CLOSED.
 */
export interface ObjectStore {
  /** Creates or replaces. */
  put(key: string, body: Body, options?: Options): Promise<ObjectInfo>
  /** Creates; null when the key exists (whoever wrote it). */
  putIfAbsent(key: string, body: Body, options?: Options): Promise<ObjectInfo | null>
  /** Replaces exactly the version with this etag; null when it is another one or absent. */
  putIfMatch(key: string, body: Body, etag: string, options?: Options): Promise<ObjectInfo | null>
  get(key: string, options?: Options): Promise<GetResult>
  /** A range; cut at the object's end. `sizeBytes` of the answer is the whole object's size. */
  getRange(key: string, range: ByteRange, options?: Options): Promise<GetResult>
  /** null when absent. */
  head(key: string, options?: Options): Promise<ObjectInfo | null>
  /** Keys with this prefix (a plain string prefix) after `startAfter`, ascending by UTF-8 bytes, in pages. */
  list(prefix: string, options?: Options & { readonly startAfter?: string }): AsyncIterable<ObjectInfo>
  /** Deletes; absent keys are no error. Returns the keys that could not be deleted, with the reason of each. */
  delete(keys: readonly string[], options?: Options): Promise<readonly { readonly key: string; readonly error: Error }[]>
  multipart(key: string, options?: Options): Promise<MultipartUpload>
  /** The full URI of a key, as table metadata names it (`file:///…`, `s3://…`). */
  uri(key: string): string
  /** The key of a full URI of this store, or null when it points elsewhere. */
  keyOf(uri: string): string | null
  close(): Promise<void>
}

/** A place in an S3 bucket; credentials come from the AWS SDK's usual environment. */
export interface S3Spec {
  readonly kind: 's3'
  readonly bucket: string
  /** Without slashes at its ends; '' for the whole bucket. */
  readonly prefix: string
  /** null: what the SDK finds (AWS_ENDPOINT_URL, or AWS itself). */
  readonly endpoint: string | null
  /** null: what the SDK finds. */
  readonly region: string | null
  /** The bucket in the path instead of the host name. */
  readonly pathStyle: boolean
}

/** What a worker thread needs to open the same store. */
export type StoreSpec =
  { readonly kind: 'folder'; readonly path: string; readonly fsync: boolean } | { readonly kind: 'memory'; readonly name: string } | S3Spec
