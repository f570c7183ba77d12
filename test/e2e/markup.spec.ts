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

  test('of a terminal, with titles, links and the clipboard', async ({ lab, page, context }) => {
    const opened = dialogs(page)
    const pages: Page[] = []
    context.on('page', (other) => pages.push(other))
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await lab.ready(lessons.first)
    await page.evaluate(() => navigator.clipboard.writeText('mine'))
    const title = await page.title()
    await lab.run(`printf '\\033]0;${image}\\007\\033]2;${image}\\007\\033]52;c;cHduZWQ=\\007'`)
    const press = async (address: string, word: string) => {
      await lab.type(`clear; printf '\\033]8;;${address}\\033\\\\${word}\\033]8;;\\033\\\\ ${image}\\n'`)
      await lab.sees(new RegExp(`${word} <img`))
      const line = await page.locator('.pane:not([hidden]) .xterm-rows > div', { hasText: word }).last().boundingBox()
      if (!line) throw new Error(`${word} is not drawn`)
      await page.mouse.move(line.x + 30, line.y + line.height / 2)
      await page.waitForTimeout(500) // the terminal looks for links under the pointer
      await page.mouse.down()
      await page.mouse.up()
      await lab.run('echo on')
    }
    await press('javascript:alert(1)', 'press-here')
    expect(opened).toEqual([])
    await press('http://127.0.0.1:9/', 'and-here')
    expect(opened, 'a link to a page asks first').toHaveLength(1)
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
