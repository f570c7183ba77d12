import { html, type TemplateResult } from 'lit'

/** Plain sentences in which `code` stands in backticks, as explanations and hints are written. */
export function inline(text: string): (string | TemplateResult)[] {
  return text.split(/`([^`]+)`/).map((part, i) => (i % 2 ? html`<code>${part}</code>` : part))
}

/** "1.4 s" from nanoseconds, as Go encodes a duration. */
export function seconds(nanoseconds: number): string {
  return `${(nanoseconds / 1e9).toFixed(1)} s`
}

export function bytes(n: number): string {
  return n < 1e6 ? `${(n / 1024).toFixed(0)} KiB` : `${(n / (1024 * 1024)).toFixed(0)} MiB`
}

/** A sentence for the learner from whatever went wrong. */
export function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
