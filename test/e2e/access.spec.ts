import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type axe from 'axe-core'
import type { Page } from '@playwright/test'
import { lessons } from './lab'
import { expect, test } from './test'

const source = readFileSync(join(__dirname, '../../assets/node_modules/axe-core/axe.min.js'), 'utf8')

declare global {
  interface Window {
    axe: typeof axe
  }
}

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(source)
  const { violations } = await page.evaluate(() => window.axe.run())
  return violations.flatMap((v) => v.nodes.map((node) => `${v.id}: ${node.target.join(' ')}: ${node.failureSummary ?? ''}`))
}

for (const colorScheme of ['light', 'dark'] as const) {
  test.describe(`in ${colorScheme}`, () => {
    test.use({ colorScheme, bypassCSP: true, contextOptions: { reducedMotion: 'reduce' } })

    test('axe finds nothing on home', async ({ lab, page }) => {
      await lab.open('/')
      expect(await violations(page)).toEqual([])
      await page.keyboard.press('/')
      await page.keyboard.type('watch')
      await expect(page.getByRole('option').first()).toBeVisible()
      expect(await violations(page)).toEqual([])
    })

    test('axe finds nothing on a lesson, with its menus, files and editor', async ({ lab, page }) => {
      await lab.ready(lessons.versions)
      await page.locator('apilab-exercise').first().scrollIntoViewIfNeeded()
      await expect(page.locator('apilab-check[state=failing], apilab-check[state=passing]').first()).toBeVisible()
      expect(await violations(page)).toEqual([])
      await lab.cluster.click()
      expect(await violations(page)).toEqual([])
      await page.keyboard.press('Escape')
      await page.locator('.contents summary').click()
      expect(await violations(page)).toEqual([])
      await page.locator('.contents summary').click()
      await page.getByRole('tab', { name: 'Files' }).click()
      expect(await violations(page)).toEqual([])
      await page.getByRole('button', { name: 'Help and keyboard shortcuts' }).click()
      expect(await violations(page)).toEqual([])
    })

    test('axe finds nothing on a lesson that wants another kind of cluster', async ({ lab, page }) => {
      await lab.ready('/lessons/real-nodes/logs-exec-attach')
      await expect(page.locator('.exercise .wants-note').first()).toBeVisible()
      expect(await violations(page)).toEqual([])
      await lab.cluster.click()
      await expect(page.locator('.usage')).toBeVisible()
      expect(await violations(page)).toEqual([])
      await lab.open('/tracks/real-nodes')
      await expect(page.locator('.lesson-item .badge').first()).toBeVisible()
      expect(await violations(page)).toEqual([])
    })

    test('axe finds nothing on a track, in the glossary and on a reference page', async ({ lab, page }) => {
      await lab.open('/tracks/api-machinery')
      await expect(page.locator('.lesson-item').first()).toBeVisible()
      expect(await violations(page)).toEqual([])
      await lab.open('/glossary')
      await page.getByRole('searchbox', { name: 'Filter' }).fill('server')
      expect(await violations(page)).toEqual([])
      await lab.ready('/reference/api-machinery/cheat-sheet')
      await expect(page.locator('apilab-command button').first()).toBeVisible()
      expect(await violations(page)).toEqual([])
    })

    test('axe finds nothing on a term that is explained', async ({ lab, page }) => {
      await lab.open(lessons.first)
      await page.locator('.term > a').first().click()
      await expect(page.locator('#term-card')).toBeVisible()
      expect(await violations(page)).toEqual([])
    })

    test('axe finds nothing on a page that is not there', async ({ lab, page }) => {
      await lab.open('/lessons/api-machinery/none')
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
      expect(await violations(page)).toEqual([])
    })

    test('axe finds nothing on the sign-in page', async ({ browser, apilab }) => {
      const context = await browser.newContext({ colorScheme, bypassCSP: true, storageState: { cookies: [], origins: [] } })
      const page = await context.newPage()
      await page.goto(apilab.url)
      expect(await violations(page)).toEqual([])
      await context.close()
    })
  })
}

test('the way from home to a command needs no mouse', async ({ lab, page }) => {
  await lab.open('/')
  await page.keyboard.press('Tab')
  await expect(page.locator('.skip')).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page.locator('#main')).toBeFocused()
  await page.keyboard.press('/')
  await page.keyboard.type('every object has a version')
  await expect(page.getByRole('option').first()).toContainText('Lesson')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(new RegExp(`${lessons.versions}$`))
  await lab.clusterIs('ready')
  await lab.prompt()

  await page.keyboard.press('F6')
  await page.keyboard.type('echo by-keyboard')
  await page.keyboard.press('Enter')
  await lab.sees(/^by-keyboard$/m)
  await page.keyboard.press('F6')
  await expect(page.locator('#main')).toBeFocused()

  const divider = page.getByRole('separator', { name: 'Width of the text' })
  await divider.focus()
  const before = Number(await divider.getAttribute('aria-valuenow'))
  await page.keyboard.press('ArrowRight')
  await expect(divider).toHaveAttribute('aria-valuenow', String(before + 2))
  await page.reload()
  await expect(divider).toHaveAttribute('aria-valuenow', String(before + 2))

  await page.keyboard.press('?')
  await expect(page.getByRole('dialog')).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toBeHidden()
})

test.describe('at 360 pixels', () => {
  test.use({ viewport: { width: 360, height: 740 }, hasTouch: true })

  test('nothing is cut off, and the terminal is a sheet over the text', async ({ lab, page }) => {
    for (const path of ['/', lessons.first, lessons.versions]) {
      await lab.open(path)
      expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), path).toBeLessThanOrEqual(0)
    }
    await lab.clusterIs('ready')
    const handle = page.getByRole('button', { name: 'Terminal', exact: true })
    await handle.tap()
    await expect(handle).toHaveAttribute('aria-expanded', 'true')
    await lab.prompt()
    await lab.type('echo on-a-phone')
    await lab.sees(/^on-a-phone$/m)
    const screen = await lab.terminal.locator('.xterm-screen').boundingBox()
    expect((screen?.x ?? 0) + (screen?.width ?? 999), 'the right edge of the terminal').toBeLessThanOrEqual(360)
    await handle.tap()
    await expect(lab.terminal).toBeHidden()
    await page.locator('apilab-run .run').first().tap()
    await expect(lab.terminal).toBeVisible()
  })
})

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false })

  test('a lesson can be read, tasks and checks included', async ({ lab, page }) => {
    await lab.open(lessons.versions)
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    await expect(page.locator('apilab-check').first()).toBeVisible()
    await page.locator('.predict summary').first().click()
    await expect(page.locator('.predict .answer > div').first()).toBeVisible()
    await expect(page.locator('.bench')).toBeHidden()
  })
})
