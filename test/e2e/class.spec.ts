import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test as base, type Browser, type BrowserContext, type Page } from '@playwright/test'
import { Apilab } from './apilab'

const source = readFileSync(join(__dirname, '../../assets/node_modules/axe-core/axe.min.js'), 'utf8')

interface WorkerFixtures {
  apilab: Apilab
  session: Awaited<ReturnType<BrowserContext['storageState']>>
}

/** `apilab` serves classes; `session` and `admin` are its first admin's. */
const test = base.extend<{ admin: Page }, WorkerFixtures>({
  apilab: [
    async ({}, use) => {
      const apilab = await new Apilab({}, true).start()
      await use(apilab)
      await apilab.dispose()
    },
    { scope: 'worker', timeout: 120_000 },
  ],
  session: [
    async ({ apilab, browser }, use) => {
      const context = await browser.newContext()
      const page = await context.newPage()
      await page.goto(apilab.signIn)
      await page.getByRole('button', { name: 'Sign in as Admin' }).click()
      await use(await context.storageState())
      await context.close()
    },
    { scope: 'worker', timeout: 120_000 },
  ],
  admin: async ({ session, browser }, use) => {
    const context = await browser.newContext({ storageState: session })
    await use(await context.newPage())
    await context.close()
  },
})

test.describe.configure({ timeout: 270_000 }) // for whole pages and axe on a slow machine; counts from before the fixtures

async function somebody(browser: Browser): Promise<Page> {
  return (await browser.newContext()).newPage()
}

/** Makes a class and returns its join code; the page then shows how to join. */
async function makeClass(page: Page, url: string, name: string, places: number): Promise<string> {
  await page.goto(`${url}/classes/new`)
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('Places').fill(String(places))
  await page.getByRole('button', { name: 'Make the class' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(`Join ${name}`)
  return (await page.locator('.wall-code').textContent()) ?? ''
}

async function joinBy(page: Page, url: string, code: string, name: string): Promise<void> {
  await page.goto(`${url}/join`)
  await page.getByLabel('Join code').fill(code)
  await page.getByLabel('Your name').fill(name)
  await page.getByRole('button', { name: 'Join', exact: true }).click()
}

test('two learners join, the third finds the class full, and one comes back from another browser', async ({ admin, apilab, browser }) => {
  const code = await makeClass(admin, apilab.url, 'Tuesday', 2)
  const ada = await somebody(browser)
  await joinBy(ada, apilab.url, code.toLowerCase().replace('-', ''), 'Ada')
  await expect(ada.getByRole('heading', { level: 1 })).toHaveText('You are in, Ada')
  const personal = (await ada.locator('#personal-code').textContent()) ?? ''
  await ada.getByRole('link', { name: 'Begin' }).click()
  await expect(ada.getByRole('heading', { name: 'Tracks' })).toBeVisible()

  const bob = await somebody(browser)
  await bob.goto(`${apilab.url}/join/${code}`) // by the QR code
  await expect(bob.getByRole('heading', { level: 1 })).toHaveText('Join Tuesday')
  await bob.getByLabel('Your name').fill('Bob')
  await bob.keyboard.press('Enter')
  await expect(bob.getByRole('heading', { level: 1 })).toHaveText('You are in, Bob')

  const eve = await somebody(browser)
  await joinBy(eve, apilab.url, code, 'Eve')
  await expect(eve.getByRole('alert')).toContainText('The class is full')
  await joinBy(eve, apilab.url, 'ACDE-FGHJ', 'Eve')
  await expect(eve.getByRole('alert')).toContainText('No class has this code')
  await expect(eve.getByLabel('Your name')).toHaveValue('Eve')

  const elsewhere = await somebody(browser)
  await elsewhere.goto(apilab.url)
  await elsewhere.getByText('I have joined before').click()
  await elsewhere.getByLabel('Personal code').fill(personal)
  await elsewhere.getByRole('button', { name: 'Come back' }).click()
  await elsewhere.getByRole('link', { name: 'Ada: your account' }).click()
  await expect(elsewhere.getByRole('heading', { level: 1 })).toHaveText('Ada')

  // Signed out there, she is still signed in here; signed out everywhere, the page that is open says so.
  await elsewhere.getByRole('button', { name: 'Sign out here' }).click()
  await expect(elsewhere.getByRole('heading', { level: 1 })).toHaveText('Join a class')
  const lesson = await ada.context().newPage()
  await lesson.goto(`${apilab.url}/lessons/api-machinery/one-server-many-clients`)
  await expect(lesson.locator('.cluster-chip')).toBeVisible()
  await ada.goto(`${apilab.url}/me`)
  await ada.getByRole('button', { name: 'Sign out everywhere' }).click()
  await expect(lesson.getByRole('status').filter({ hasText: 'Signed out' })).toBeVisible()
})

test('joining works without JavaScript', async ({ admin, apilab, browser }) => {
  const code = await makeClass(admin, apilab.url, 'Plain', 1)
  const page = await (await browser.newContext({ javaScriptEnabled: false })).newPage()
  await joinBy(page, apilab.url, code, 'Ada')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('You are in, Ada')
})

test('an admin lets an instructor in', async ({ admin, apilab, browser }) => {
  await admin.goto(`${apilab.url}/people`)
  await admin.getByLabel('Name', { exact: true }).fill('Grace')
  await admin.getByRole('button', { name: 'Make a sign-in link' }).click()
  const link = (await admin.locator('.told code').textContent()) ?? ''
  const grace = await somebody(browser)
  await grace.goto(link)
  await grace.getByRole('button', { name: 'Sign in as Grace' }).click()
  await makeClass(grace, apilab.url, 'Of Grace', 5)
  await grace.goto(`${apilab.url}/people`)
  await expect(grace.getByRole('heading', { level: 1 })).toHaveText('This page is not yours to open')
  await admin.goto(`${apilab.url}/classes`)
  await expect(admin.getByRole('row', { name: /Of Grace/ })).toContainText('of Grace')
})

test('a learner is removed, and a class deleted, by who means it', async ({ admin, apilab, browser }) => {
  const code = await makeClass(admin, apilab.url, 'Thursday', 5)
  const settings = admin.url().replace('/join', '/settings')
  const ada = await somebody(browser)
  await joinBy(ada, apilab.url, code, 'Ada')
  await ada.getByRole('link', { name: 'Begin' }).click()
  await joinBy(await somebody(browser), apilab.url, code, 'Bob')

  await admin.goto(settings)
  await expect(admin.getByRole('button', { name: 'Remove Ada' })).toBeHidden()
  await admin.getByText('Remove… Ada').press('Enter')
  await admin.getByRole('button', { name: 'Remove Ada' }).click()
  await expect(admin.getByRole('rowheader')).toHaveText(['Bob'])
  await ada.reload()
  await expect(ada.getByRole('heading', { level: 1 })).toHaveText('Join a class')

  await admin.getByText('Delete this class…').click()
  await admin.getByLabel('Type its name, Thursday, to confirm').fill('Friday')
  await admin.getByRole('button', { name: 'Delete the class' }).click()
  await expect(admin.getByRole('alert')).toContainText('Nothing was deleted')
  await admin.getByLabel('Type its name, Thursday, to confirm').fill('Thursday')
  await admin.keyboard.press('Enter')
  await expect(admin.getByRole('heading', { level: 1 })).toHaveText('Classes')
  await expect(admin.getByText('Thursday')).toBeHidden()
  await ada.goto(`${apilab.url}/join/${code}`)
  await expect(ada.getByRole('alert')).toContainText('No class has this code')
})

for (const colorScheme of ['light', 'dark'] as const) {
  test(`axe finds nothing, and 360 px are enough, in ${colorScheme}`, async ({ apilab, browser, admin, session }, info) => {
    const code = await makeClass(admin, apilab.url, `Wednesday ${colorScheme}`, 3)
    const wall = new URL(admin.url()).pathname
    const learner = await somebody(browser)
    await joinBy(learner, apilab.url, code, 'Ada Lovelace')
    const context = await browser.newContext({ colorScheme, bypassCSP: true, storageState: session })
    const stranger = await browser.newContext({ colorScheme, bypassCSP: true })
    const member = await browser.newContext({ colorScheme, bypassCSP: true, storageState: await learner.context().storageState() })
    for (const [who, path, name] of [
      [stranger, '/join', 'join'],
      [stranger, '/join/ACDE-FGHJ', 'join-wrong-code'],
      [member, '/', 'home'],
      [member, '/me', 'account'],
      [context, '/people', 'people'],
      [context, '/classes', 'classes'],
      [context, '/classes/new', 'class-new'],
      [context, wall, 'class-join'],
      [context, wall.replace('/join', '/settings'), 'class-settings'],
    ] as const) {
      const page = await who.newPage()
      await page.goto(apilab.url + path)
      for (const hidden of await page.locator('.sure > summary').all()) await hidden.click()
      await page.evaluate(source)
      const { violations } = await page.evaluate(() => window.axe.run())
      expect(violations.flatMap((v) => v.nodes.map((n) => `${name}: ${v.id}: ${n.target.join(' ')}: ${n.failureSummary ?? ''}`))).toEqual([])
      await page.screenshot({ path: info.outputPath(`${name}.png`), fullPage: true })
      await page.setViewportSize({ width: 360, height: 740 })
      await page.screenshot({ path: info.outputPath(`${name}-360.png`), fullPage: true })
      expect(await page.evaluate(() => document.documentElement.scrollWidth), `${name} at 360 px`).toBeLessThanOrEqual(360)
      await page.close()
    }
  })
}
