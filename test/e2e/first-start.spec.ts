import { expect, test as base } from '@playwright/test'
import { Apilab } from './apilab'
import { Lab } from './lab'

const test = base.extend<{ fresh: Apilab }>({
  fresh: async ({}, use) => {
    const apilab = await new Apilab().start()
    await use(apilab)
    await apilab.dispose()
  },
})

test('from the first start to the first green check', async ({ page, fresh }) => {
  const lab = new Lab(page, fresh.url)
  await page.goto(fresh.signIn)
  await expect(page).toHaveURL(`${fresh.url}/`)
  await page.getByRole('link', { name: /^Begin with/ }).click()

  await expect(page.locator('.bench-strip .phases li').first()).toBeVisible()
  await lab.clusterIs('ready')
  await expect(page.locator('.bench-strip')).toHaveCount(0)

  const id = 'api-machinery/talk-to-the-api'
  await lab.exercise(id).scrollIntoViewIfNeeded()
  const first = lab.exercise(id).locator('apilab-check').first()
  await expect(first).toHaveAttribute('state', /failing|waiting/)

  await lab.exercise(id).getByRole('button', { name: 'Show solution' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Show solution' }).click()
  await lab.exercise(id).locator('apilab-solution').getByRole('button', { name: 'Run' }).click()
  await expect(first).toHaveAttribute('state', 'passing', { timeout: 30_000 })
  await expect(first.locator('.evidence')).not.toBeEmpty()

  await page.reload()
  await expect(first).toHaveAttribute('state', 'passing')
})

test('a link signs in once, and a browser that is not known hears what to do', async ({ page, browser, fresh }) => {
  await page.goto(fresh.signIn)
  const stranger = await (await browser.newContext()).newPage()
  await stranger.goto(fresh.signIn)
  await expect(stranger.getByRole('alert')).toBeVisible()
  await expect(stranger.getByText('apilab open')).toBeVisible()
  await stranger.goto(`${fresh.url}/lessons/api-machinery/one-server-many-clients`)
  await expect(stranger.getByRole('heading', { level: 1 })).toHaveText('Open the link that apilab printed')
})
