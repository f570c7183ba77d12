import { gzipSync } from 'node:zlib'
import { lessons } from './lab'
import { expect, test } from './test'

test('a lesson is light, and everything comes from the server itself', async ({ lab, page, request, apilab }) => {
  for (const path of Object.values(lessons)) {
    const html = await (await request.get(apilab.url + path)).body()
    expect(gzipSync(html).length, path).toBeLessThan(60 * 1024)
  }
  const foreign: string[] = []
  page.on('request', (r) => {
    if (!r.url().startsWith(apilab.url) && !r.url().startsWith('data:')) foreign.push(r.url())
  })
  const refused: string[] = []
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) refused.push(message.text())
  })
  await lab.ready(lessons.first)
  expect(foreign).toEqual([])
  expect(refused).toEqual([])
})
