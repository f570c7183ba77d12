import type { CheckStatus, Evidence } from './protocol/messages'

// How a check's reason and evidence are told: what the server sends has everything in it, and says some of it twice.

/** Words that a sentence may begin with as they are. */
const programs = new Set(['kubectl', 'curl', 'jq'])

/** A field's path, like spec.replicas or status.conditions[0].type. */
const path = /^[a-z]\w*(\[[^\]\s]+\]|\.[\w-]+)+$/i

/** Begins a sentence with a capital letter. A field's path becomes code; code and names of programs stay as they are. */
export function capital(text: string): string {
  const first = /^\S+/.exec(text)?.[0] ?? ''
  if (path.test(first)) return `\`${first}\`${text.slice(first.length)}`
  if (programs.has(first)) return text
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Characters of an operand that still help; the terminal is the place for more. */
const most = 60

/** The operands that decided, where the sentence does not say them already. */
export function seen({ field, saw, why = '' }: CheckStatus): { field: string; saw: string } | undefined {
  if (!field || !saw || saw.length > most || /^(\[\]|\{\}|""|nothing)$/.test(saw) || why.includes(saw)) return undefined
  return { field, saw }
}

/** What satisfied a check, in the parts that a line shows. */
export interface Proof {
  text?: string
  code?: string
  after?: string
  version?: string
}

/** What to show of the evidence: of a request its line and its status, of objects what they are and their version. */
export function proof(kind: string, by: Evidence): Proof | undefined {
  if (kind === 'answer') return undefined // it stands in its field
  if (by.request) {
    const status = /\b\d{3}$/.exec(by.text ?? '')?.[0]
    return { code: withoutNoise(by.request), ...(status ? { after: ` → ${status}` } : {}) }
  }
  const version = by.resourceVersion ? { version: by.resourceVersion } : {}
  if (by.text) return { text: by.text, ...version }
  const object = [by.resource, by.name].filter(Boolean).join(' ')
  if (!object) return by.resourceVersion ? version : undefined
  return { code: object, ...(by.namespace ? { after: ` in ${by.namespace}` } : {}), ...version }
}

/** Without the parameters that say nothing about what was asked: those that kubectl adds by itself, and a watch's length. */
function withoutNoise(request: string): string {
  const [line = '', query = ''] = request.split('?')
  const kept = query.split('&').filter((p) => p !== '' && !/^(fieldManager=kubectl|fieldValidation=|limit=500$|timeoutSeconds=)/.test(p))
  return kept.length > 0 ? `${line}?${kept.join('&')}` : line
}
