/** Width of a character of a label, on the average, in the units of the drawing. */
const character = 4.9

const message = /^(\s*([\w.]+)\s*<?-{1,2}(?:>>|>|x|\))\s*[+-]?([\w.]+)\s*:\s*)(.+)$/

/**
 * Breaks the words of a sequence's messages where they would not fit between their two lifelines, of which the first
 * drawing says where they are. More than two lines would reach the message above.
 */
export function wrapMessages(source, svg) {
  const at = new Map([...svg.matchAll(/class="lifeline" data-actor="([^"]+)" x1="([\d.]+)"/g)].map(([, id, x]) => [id, Number(x)]))
  const lines = source.split('\n')
  const first = lines.findIndex((line) => message.test(line))
  return lines
    .map((line, i) => {
      const [, head, from, to, words] = message.exec(line) ?? []
      const low = i === first || /^\s*note\b/i.test(lines[i - 1]) // below the actors and below a note there is room for one line
      if (!words || (low && from !== to) || /<br/.test(words)) return line
      const room = from === to ? 120 : Math.abs(at.get(from) - at.get(to)) - 10
      return words.length * character > room ? head + halves(words) : line
    })
    .join('\n')
}

/** Two lines, as even as the words allow. */
function halves(text) {
  const words = text.trim().split(/\s+/)
  let best = text
  for (let i = 1; i < words.length; i++) {
    const pair = [words.slice(0, i).join(' '), words.slice(i).join(' ')]
    const longest = Math.max(...pair.map((line) => line.length))
    if (best === text || longest < Math.max(...best.split('<br/>').map((line) => line.length))) best = pair.join('<br/>')
  }
  return best
}
