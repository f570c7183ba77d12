// The binary frames of docs/protocol.md: kind u8 | terminal u32 | offset u64 | payload, big endian.

export const Kind = { output: 1, input: 2, ack: 3, flow: 4 } as const
export type Kind = (typeof Kind)[keyof typeof Kind]

export interface Frame {
  kind: number
  terminal: number
  /** Exact up to 2^53; a terminal that printed a byte each microsecond would get there after 285 years. */
  offset: number
  payload: Uint8Array
}

const header = 13
const none = new Uint8Array(0)

export function encode(kind: Kind, terminal: number, offset: number, payload: Uint8Array = none): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(header + payload.length)
  const view = new DataView(frame.buffer)
  view.setUint8(0, kind)
  view.setUint32(1, terminal)
  view.setBigUint64(5, BigInt(offset))
  frame.set(payload, header)
  return frame
}

/** Returns undefined for what is no frame: too short, or with an offset that no terminal reaches. */
export function decode(data: ArrayBuffer): Frame | undefined {
  if (data.byteLength < header) return undefined
  const view = new DataView(data)
  const offset = view.getBigUint64(5)
  if (offset > BigInt(Number.MAX_SAFE_INTEGER)) return undefined
  return { kind: view.getUint8(0), terminal: view.getUint32(1), offset: Number(offset), payload: new Uint8Array(data, header) }
}
