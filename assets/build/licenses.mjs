// Adds the fonts, which no script imports, to the licenses that vite has collected.
import { appendFileSync, readFileSync } from 'node:fs'

const fonts = ['@fontsource-variable/source-sans-3', '@fontsource-variable/source-code-pro']

for (const name of fonts) {
  const folder = new URL(`../node_modules/${name}/`, import.meta.url)
  const { version, license } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8'))
  const text = readFileSync(new URL('LICENSE', folder), 'utf8').trim()
  appendFileSync(new URL('../dist/licenses.md', import.meta.url), `\n## ${name} - ${version} (${license})\n\n${text}\n`)
}
