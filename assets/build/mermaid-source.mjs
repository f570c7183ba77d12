import { createHash } from 'node:crypto'

/** The mermaid blocks of a Markdown text, without their fences and the fence's indentation. */
export function diagramsOf(markdown) {
  const sources = []
  let open
  for (const line of markdown.replaceAll('\r\n', '\n').split('\n')) {
    const fence = /^(\s*)(`{3,}|~{3,})\s*(.*)$/.exec(line)
    if (!open) {
      if (fence) open = { indent: fence[1].length, fence: fence[2], mermaid: /^mermaid\b/.test(fence[3]), lines: [] }
      continue
    }
    if (fence && fence[3] === '' && fence[2].startsWith(open.fence)) {
      if (open.mermaid) sources.push(open.lines.join('\n').trim())
      open = undefined
      continue
    }
    open.lines.push(line.slice(Math.min(open.indent, line.length - line.trimStart().length)))
  }
  return sources
}

/** The name of a diagram's file; diagrams.go must agree. */
export function diagramName(source) {
  return createHash('sha256').update(source.replaceAll('\r\n', '\n').trim()).digest('hex').slice(0, 16)
}
