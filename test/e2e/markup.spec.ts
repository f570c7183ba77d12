import type { Page } from '@playwright/test'
import { lessons } from './lab'
import { expect, test } from './test'

/** What others could have written: were it taken for markup or script anywhere, a dialog would open. */
const image = '<img src=x onerror=alert(1)>'

function dialogs(page: Page): string[] {
  const opened: string[] = []
  page.on('dialog', (dialog) => {
    opened.push(dialog.message())
    void dialog.dismiss()
  })
  return opened
}

test.describe('text stays text', () => {
  test.describe.configure({ timeout: 240_000 }) // a slow machine takes a while for each key typed

  test('of a search', async ({ lab, page }) => {
    const opened = dialogs(page)
    for (const query of [image, `"><script>alert(1)</script>`, `'-alert(1)-'`, 'javascript:alert(1)']) {
      await lab.open(`/search?q=${encodeURIComponent(query)}`)
      await expect(page.getByRole('searchbox').first()).toHaveValue(query)
      await expect(page.locator('main img, main script:not([src])')).toHaveCount(0)
    }
    expect(opened).toEqual([])
  })

  test.fixme('of a terminal, with titles, links and the clipboard', async ({ lab, page, context }) => {
    const opened = dialogs(page)
    const pages: Page[] = []
    context.on('page', (other) => pages.push(other))
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await lab.ready(lessons.first)
    await page.evaluate(() => navigator.clipboard.writeText('mine'))
    const title = await page.title()
    await lab.run(`printf '\\033]0;${image}\\007\\033]2;${image}\\007\\033]52;c;cHduZWQ=\\007'`)
    await lab.type(`clear; printf '\\033]8;;javascript:alert(1)\\033\\\\press-here\\033]8;;\\033\\\\ ${image}\\n'`)
    await lab.sees(/press-here <img/)
    await page.locator('.pane:not([hidden]) .xterm-rows > div', { hasText: 'press-here' }).last().click({ position: { x: 30, y: 8 } })
    await lab.run('echo on')
    expect(opened).toEqual([])
    expect(pages.map((other) => other.url())).toEqual([])
    expect(await page.title()).toBe(title)
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('mine')
    await expect(page.locator('apilab-terminal img, .tabs img')).toHaveCount(0)
  })

  test('of objects and answers', async ({ lab, page }) => {
    const opened = dialogs(page)
    await lab.ready(lessons.versions)
    const exercise = lab.exercise('api-machinery/read-a-resource-version')
    await exercise.scrollIntoViewIfNeeded()
    await exercise.getByRole('textbox').first().fill(image)
    await exercise.getByRole('textbox').first().press('Enter')
    await lab.run(`kubectl create namespace api-lab; kubectl create configmap markup -n api-lab --from-literal=a='${image}'; kubectl annotate configmap ledger -n api-lab note='${image}'`)
    await expect(exercise.locator('img')).toHaveCount(0)
    expect(opened).toEqual([])
  })
})
