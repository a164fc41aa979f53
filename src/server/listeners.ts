import { hostname } from 'node:os'
import { FrazilError } from '../base/errors.ts'

export interface Listener {
  /** Upper case, unique. */
  readonly name: string
  /** '' means every interface. An IPv6 address stands without brackets. */
  readonly host: string
  /** 0 in `listeners` means any free port. */
  readonly port: number
}

const PROTOCOLS: ReadonlySet<string> = new Set(['PLAINTEXT', 'SSL', 'SASL_PLAINTEXT', 'SASL_SSL'])
const SYNTAX = /^([A-Za-z0-9._-]+):\/\/(?:\[([0-9A-Fa-f:.%]+)\]|([^\s:/[\]]*)):(\d{1,5})$/

/**
 * Parses Kafka's `listeners` (`PLAINTEXT://host:port,INTERNAL://[::1]:9093`). A name that is no security protocol needs an
 * entry in `protocolMap` (`listener.security.protocol.map`, `INTERNAL:PLAINTEXT,…`).
 * Errors: SETTING_INVALID with one sentence.
 */
export function parseListeners(text: string, protocolMap = '', setting = 'listeners'): readonly Listener[] {
  const protocols = parseProtocolMap(protocolMap)
  const listeners: Listener[] = []
  for (const part of text.split(',')) {
    const listener = parseOne(part.trim(), setting)
    const protocol = protocols.get(listener.name) ?? (PROTOCOLS.has(listener.name) ? listener.name : undefined)
    if (protocol === undefined) throw invalid(setting, `no security protocol is defined for the listener ${listener.name}`)
    if (protocol !== 'PLAINTEXT') throw invalid(setting, `${listener.name} wants ${protocol}, and only PLAINTEXT is served`)
    for (const other of listeners) {
      if (other.name === listener.name) throw invalid(setting, `the listener ${listener.name} is named twice`)
      if (listener.port !== 0 && other.port === listener.port && other.host === listener.host) {
        throw invalid(setting, `${other.name} and ${listener.name} have the same address`)
      }
    }
    listeners.push(listener)
  }
  return listeners
}

/**
 * What clients are told: `advertised.listeners`, or, where it is empty, the listeners as bound (an address of every
 * interface becomes the host's name). Every advertised listener must be a real one.
 */
export function parseAdvertised(text: string, bound: readonly Listener[]): readonly Listener[] {
  const setting = 'advertised.listeners'
  if (text.trim() === '') {
    return bound.map((listener) => (isWildcard(listener.host) ? { ...listener, host: hostname() } : listener))
  }
  const advertised = text.split(',').map((part) => parseOne(part.trim(), setting))
  for (const [i, { name, host, port }] of advertised.entries()) {
    if (!bound.some((listener) => listener.name === name)) throw invalid(setting, `${name} is not among the listeners`)
    if (isWildcard(host)) throw invalid(setting, `${name} needs an address that clients can reach`)
    if (port === 0) throw invalid(setting, `${name} needs a port`)
    if (advertised.findIndex((other) => other.name === name) !== i) throw invalid(setting, `the listener ${name} is named twice`)
  }
  return advertised
}

function isWildcard(host: string): boolean {
  return host === '' || host === '0.0.0.0' || host === '::'
}

function parseOne(text: string, setting: string): Listener {
  const match = SYNTAX.exec(text)
  if (match === null) throw invalid(setting, `"${text}" is not of the form PLAINTEXT://host:port`)
  const port = Number(match[4])
  if (port > 65535) throw invalid(setting, `${port} is no port`)
  return { name: match[1].toUpperCase(), host: match[2] ?? match[3], port }
}

function parseProtocolMap(text: string): ReadonlyMap<string, string> {
  const map = new Map<string, string>()
  for (const entry of text.split(',').map((part) => part.trim())) {
    if (entry === '') continue
    const [name, protocol, ...rest] = entry.split(':')
    if (name === '' || rest.length > 0 || protocol === undefined || !PROTOCOLS.has(protocol.toUpperCase())) {
      throw invalid('listener.security.protocol.map', `"${entry}" is not of the form NAME:PROTOCOL`)
    }
    map.set(name.toUpperCase(), protocol.toUpperCase())
  }
  return map
}

function invalid(setting: string, sentence: string): FrazilError {
  return new FrazilError('SETTING_INVALID', `${setting}: ${sentence}`)
}
