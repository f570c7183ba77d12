import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator, Page } from '@playwright/test'
import type { Lab } from '../lab'
import { expect, test } from '../test'

const docs = join(__dirname, '../../../docs')
const largest = 250 * 1024 // bytes of one picture: a README is read on slow lines too

async function take(page: Page, name: string): Promise<void> {
  const path = join(docs, `${name}.png`)
  await page.screenshot({ path, animations: 'disabled' })
  expect(statSync(path).size, path).toBeLessThanOrEqual(largest)
}

/** Puts an element just under the top bar. */
async function raise(element: Locator): Promise<void> {
  await element.evaluate((e) => window.scrollTo({ top: e.getBoundingClientRect().top + window.scrollY - 72, behavior: 'instant' }))
}

async function allPass(lab: Lab, id: string, checks: string[]): Promise<void> {
  for (const check of checks) await expect(lab.check(id, check)).toHaveAttribute('state', 'passing', { timeout: 30_000 })
}

test('home and a lesson, in the middle of the work', async ({ lab, page }) => {
  const door = 'api-machinery/talk-to-the-api'
  const groups = 'api-machinery/discover-an-api'
  const watch = 'api-machinery/watch-a-pod-start'

  await test.step('the first lesson is done', async () => {
    await lab.ready('/lessons/api-machinery/one-server-many-clients')
    await lab.exercise(door).scrollIntoViewIfNeeded()
    await expect(lab.check(door, 'listed')).toHaveAttribute('state', 'failing', { timeout: 30_000 })
    await lab.type('kubectl proxy --port=8001 &')
    await lab.sees('Starting to serve')
    await lab.run('curl -s localhost:8001/api/v1/namespaces/api-lab/configmaps')
    await lab.type('curl -s localhost:8001/api/v1/namespaces/api-lab/configmaps/door | jq -r .data.word')
    await lab.sees(/^[0-9a-f]{8}$/m)
    await lab.check(door, 'word').getByRole('textbox').fill(/^[0-9a-f]{8}$/m.exec(await lab.screen())?.[0] ?? '')
    await lab.check(door, 'word').getByRole('button', { name: 'Check' }).click()
    await allPass(lab, door, ['listed', 'read', 'word'])
    for (const path of ['', '/batch/v1', '/batch/v1/namespaces/api-lab/cronjobs']) await lab.run(`curl -s localhost:8001/apis${path}`)
    await lab.check(groups, 'subresource').getByRole('textbox').fill('status')
    await lab.check(groups, 'subresource').getByRole('button', { name: 'Check' }).click()
    await allPass(lab, groups, ['groups', 'resources', 'listed', 'subresource'])
  })

  await test.step('a watch is open, and has seen a Pod start', async () => {
    await lab.open('/lessons/api-machinery/list-then-watch')
    await expect(lab.check(watch, 'open')).toHaveAttribute('state', 'failing', { timeout: 30_000 })
    await lab.prompt()
    await lab.type('clear')
    await page.locator('apilab-run .run').nth(1).click()
    await allPass(lab, watch, ['open'])
    await lab.exercise(watch).getByRole('button', { name: 'Run in 2' }).click()
    await allPass(lab, watch, ['open', 'added', 'modified'])
    await page.getByRole('tab').first().click()
    await lab.sees('Running')
    await lab.check(watch, 'counts').getByRole('radio').first().check()
    await expect(lab.check(watch, 'counts').locator('.check-detail')).toContainText('several events')
    await page.mouse.move(0, 0)
  })

  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await raise(lab.exercise(watch))
    await take(page, `lesson-${colorScheme}`)
  }
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 360, height: 740 })
  await raise(lab.exercise(watch).locator('.checks'))
  await take(page, 'lesson-narrow')

  await page.setViewportSize({ width: 1440, height: 940 })
  await lab.open('/')
  await lab.clusterIs('ready')
  await expect(page.locator('.version-value')).toHaveText(/^\d+$/)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await take(page, `home-${colorScheme}`)
  }
})

/** Lessons whose pictures show a structure, a decision and an order. */
const diagrams = {
  structure: '/lessons/api-machinery/one-server-many-clients',
  decision: '/lessons/why-infrastructure-rots/ready-or-not',
  order: '/lessons/operator-build/status-and-conditions',
}

test('lessons with diagrams', async ({ lab, page }) => {
  await page.setViewportSize({ width: 1440, height: 940 })
  for (const [name, path] of Object.entries(diagrams)) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await lab.ready(path)
      const figure = page.locator('figure.diagram').first()
      await expect(figure.locator('svg')).toBeVisible()
      await raise(figure)
      await take(page, `diagram-${name}-${colorScheme}`)
    }
  }
})
