// Draws each mermaid block of the lessons into dist/diagrams/<name>.svg. Runs after vite, which empties dist.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { draw } from './diagram-svg.mjs'
import { diagramName, diagramsOf } from './mermaid-source.mjs'

const content = fileURLToPath(new URL('../../content', import.meta.url))
const out = fileURLToPath(new URL('../dist/diagrams', import.meta.url))

mkdirSync(out, { recursive: true })
let drawn = 0
let failed = 0
for (const file of readdirSync(content, { recursive: true }).filter((name) => name.endsWith('.md') && !name.startsWith('testdata')).sort()) {
  for (const source of diagramsOf(readFileSync(join(content, file), 'utf8'))) {
    const name = diagramName(source)
    try {
      writeFileSync(join(out, `${name}.svg`), draw(source, name))
      drawn++
    } catch (error) {
      failed++
      console.error(`content/${file}: this diagram cannot be drawn: ${error.message}\n${source}\n`)
    }
  }
}
console.log(`${drawn} diagrams drawn`)
process.exitCode = failed > 0 ? 1 : 0
