import { parseMermaid } from 'beautiful-mermaid'

/** What a diagram shows, in words, for who does not see it: its arrows in the order of the source. */
export function describe(source) {
  return /^\s*sequenceDiagram/.test(source) ? describeSequence(source) : describeGraph(source)
}

function describeGraph(source) {
  let graph
  try {
    graph = parseMermaid(source)
  } catch {
    return 'Diagram' // of a kind that has no arrows
  }
  const name = (id) => text(graph.nodes.get(id)?.label || (id.startsWith('_start') ? 'start' : id.startsWith('_end') ? 'end' : id))
  return graph.edges.map((edge) => `${name(edge.source)} to ${name(edge.target)}${edge.label ? `: ${text(edge.label)}` : ''}.`).join(' ')
}

function describeSequence(source) {
  const names = new Map([...source.matchAll(/^\s*(?:participant|actor)\s+(\S+)\s+as\s+(.+)$/gm)].map(([, id, label]) => [id, label.trim()]))
  const name = (id) => names.get(id) ?? id
  return source
    .split('\n')
    .flatMap((line) => {
      const message = /^\s*([\w.]+)\s*<?-{1,2}(?:>>|>|x|\))\s*[+-]?([\w.]+)\s*:\s*(.+)$/.exec(line)
      if (message) return [`${name(message[1])} to ${name(message[2])}: ${text(message[3])}.`]
      const note = /^\s*Note\s+[^:]+:\s*(.+)$/i.exec(line)
      return note ? [`${text(note[1])}.`] : []
    })
    .join(' ')
}

function text(label) {
  return label.replace(/<br\s*\/?>/g, ' ').trim()
}
