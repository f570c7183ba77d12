import { expect, test } from 'vitest'
import { draw } from './diagram-svg.mjs'
import { describe } from './diagram-text.mjs'
import { diagramName, diagramsOf } from './mermaid-source.mjs'

test('finds mermaid blocks, also indented ones and ones with a title, and nothing inside other fences', () => {
  const markdown = [
    '```mermaid title="a"',
    'graph LR',
    '  a --> b',
    '```',
    '- in a list',
    '  ```mermaid',
    '  graph TD',
    '    c --> d',
    '  ```',
    '````md',
    '```mermaid',
    'graph RL',
    '```',
    '````',
  ].join('\r\n')
  expect(diagramsOf(markdown)).toEqual(['graph LR\n  a --> b', 'graph TD\n  c --> d'])
})

test('names a diagram as the Go side does', () => {
  expect(diagramName('\ngraph LR\r\n  a --> b\n\n')).toBe('80baf41df0aba5c4')
})

test('draws without styles, hosts or ids that could meet another diagram', () => {
  for (const source of ['graph LR\n  a[x] -->|y| b', 'sequenceDiagram\n  a->>b: hi', 'stateDiagram-v2\n  [*] --> A\n  A --> B: go']) {
    const svg = draw(source, 'n1')
    expect(svg).toMatch(/^<div class="diagram-scroll"[^>]*><svg viewBox=/)
    expect(svg).toMatch(/<\/svg><\/div>$/)
    expect(svg).not.toMatch(/<style|https?:|@import|NaN/)
    for (const [, id] of svg.matchAll(/ id="([^"]+)"/g)) expect(id).toMatch(/^dn1-/)
    for (const [, id] of svg.matchAll(/url\(#([^)]+)\)/g)) expect(svg).toContain(` id="${id}"`)
  }
})

test('draws a decision low, and two lines of a message above its arrow', () => {
  const height = (source) => Number(/ height="(\d+)"/.exec(draw(source, 'n1'))[1])
  expect(height('flowchart TD\n  a{is there anything left to do?} --> b')).toBeLessThan(200)
  const svg = draw('sequenceDiagram\n  participant a as You\n  b->>a: hi\n  a->>b: a label that is much too long for one line\n  Note over b: kept\n  b->>a: another one that is much too long for one line', 'n1')
  const [, first, second] = [...svg.matchAll(/<g class="message".*?<\/g>/g)].map(([group]) => group)
  expect(first.match(/<tspan/g)).toHaveLength(2)
  expect(second).not.toContain('<tspan') // the note is right above it
  const [, arrow] = / y1="([\d.]+)"/.exec(first)
  const [, text] = /<text [^>]*y="([\d.]+)"/.exec(first)
  expect(Number(arrow) - Number(text)).toBeGreaterThan(15)
})

test('the label of a loop does not cover it', () => {
  const loop = draw('stateDiagram-v2\n  A --> A: again\n  A --> B: go', 'n1').match(/<g class="edge-label".*?<\/g>/g)
  expect(loop.map((label) => label.includes('<rect'))).toEqual([false, true])
})

test('says in words what it shows', () => {
  expect(describe('graph LR\n  a[one client] -->|LIST| b(API server)\n  b --> c[(etcd)]')).toBe('one client to API server: LIST. API server to etcd.')
  expect(describe('sequenceDiagram\n  participant api as API server\n  you->>api: create a\n  Note over api: stored as 701\n  api-->>you: revision 501')).toBe('you to API server: create a. stored as 701. API server to you: revision 501.')
  expect(draw('graph LR\n  a["x & <y>"] --> b', 'n1')).toContain('aria-label="x &amp; &lt;y> to b."')
})
