import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test as base, type Browser, type Page } from '@playwright/test'
import { Apilab } from './apilab'
import { Lab } from './lab'
import { Sixty } from './sixty'

const source = readFileSync(join(__dirname, '../../assets/node_modules/axe-core/axe.min.js'), 'utf8')

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(source)
  const { violations } = await page.evaluate(() => window.axe.run())
  return violations.flatMap((v) => v.nodes.map((node) => `${v.id}: ${node.target.join(' ')}: ${node.failureSummary ?? ''}`))
}

/** A browser of somebody's own. Whatever goes wrong in its pages fails the test. */
async function somebody(browser: Browser, options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
  const page = await (await browser.newContext(options)).newPage()
  page.on('pageerror', (error) => expect.soft(error.message, 'an error in the page').toBe(''))
  page.on('dialog', (dialog) => expect.soft(dialog.message(), 'a dialog of the browser: some name or output has become script').toBe(''))
  return page
}

/** A server of classes with two instructors and a class; learners join by plain HTTP or with a browser. */
class School {
  readonly apilab = new Apilab({}, true)
  admin!: Page
  grace!: Page
  class = ''
  code = ''

  constructor(readonly browser: Browser) {}

  async start(): Promise<this> {
    await this.apilab.start()
    this.admin = await somebody(this.browser)
    await this.admin.goto(this.apilab.signIn)
    await this.admin.getByRole('button', { name: /^Sign in/ }).click()
    await this.admin.goto(`${this.apilab.url}/people`)
    await this.admin.getByLabel('Name').fill('Grace')
    await this.admin.getByLabel('Name').press('Enter')
    const link = (await this.admin.locator('code', { hasText: '/signin/' }).first().textContent()) ?? ''
    this.grace = await somebody(this.browser)
    await this.grace.goto(link)
    await this.grace.getByRole('button', { name: /^Sign in/ }).click()
    await this.grace.goto(`${this.apilab.url}/classes/new`)
    await this.grace.getByLabel('Name').fill('Tuesday')
    await this.grace.getByLabel('Places').fill('40')
    await this.grace.getByRole('button', { name: 'Make the class' }).click()
    this.code = (await this.grace.locator('.wall-code').textContent()) ?? ''
    this.class = new URL(this.grace.url()).pathname.replace(/\/join$/, '')
    return this
  }

  /** Joins with a browser. */
  async learner(name: string): Promise<Page> {
    const page = await somebody(this.browser)
    await this.join(page.request, name)
    await page.goto(this.apilab.url)
    return page
  }

  /** Joins by plain HTTP, as often as one likes. */
  async join(request: Page['request'], name: string): Promise<void> {
    const answer = await request.post(`${this.apilab.url}/join`, { form: { code: this.code, name }, headers: { accept: 'text/html' } })
    expect(answer.status(), await answer.text()).toBe(200)
  }

  async watch(page = this.grace): Promise<Page> {
    await page.goto(this.apilab.url + this.class)
    await expect(page.locator('.live')).toBeVisible()
    return page
  }

  async dispose(): Promise<void> {
    await this.apilab.dispose()
  }
}

const test = base.extend<object, { school: School; sixty: Sixty }>({
  school: [
    async ({ browser }, use) => {
      const school = await new School(browser).start()
      await use(school)
      await school.dispose()
    },
    { scope: 'worker', timeout: 120_000 },
  ],
  sixty: [
    async ({}, use) => {
      const sixty = await new Sixty().start()
      await use(sixty)
      await sixty.dispose()
    },
    { scope: 'worker', timeout: 300_000 },
  ],
})

const lesson = '/lessons/api-machinery/one-server-many-clients'
const row = (page: Page, name: string) => page.locator('.grid tbody tr').filter({ has: page.getByRole('button', { name, exact: true }) })
const desk = (page: Page) => page.locator('apilab-class-desk')
const notices = (page: Page) => page.locator('.notices')

test.describe('a class', () => {
  test.describe.configure({ timeout: 240_000 })

  test('a learner comes, is watched, typed for by leave, and reset, each as both sides see it', async ({ school, browser }) => {
    const ada = await school.learner('Ada')
    const lab = new Lab(ada, school.apilab.url)
    const grace = await school.watch()
    await school.join((await somebody(browser)).request, 'Bob')
    await expect(row(grace, 'Bob')).toHaveClass('away')

    await test.step('the grid follows the learner', async () => {
      await lab.ready(lesson)
      await expect(row(grace, 'Ada')).not.toHaveClass('away')
      await lab.exercise('api-machinery/talk-to-the-api').scrollIntoViewIfNeeded()
      await expect(row(grace, 'Ada').locator('td.cell').first()).toHaveAttribute('data-state', 'failing', { timeout: 60_000 })
      await lab.run('kubectl get configmaps -n api-lab; kubectl proxy --port=8001 & sleep 1; curl -s localhost:8001/api/v1/namespaces/api-lab/configmaps')
      await expect(row(grace, 'Ada').locator('td.cell[data-state=passing]').first()).toBeVisible({ timeout: 30_000 })
      await expect(grace.locator('.side-share').first()).toContainText('of 2 pass')
    })

    await test.step('watching shows the terminal, and takes no key', async () => {
      await lab.type('clear; echo only-for-$((40+2))')
      await row(grace, 'Ada').getByRole('button').click()
      await grace.getByRole('button', { name: 'Watch terminal' }).click()
      const watched = grace.locator('.watch-screen .xterm-rows')
      await expect(watched).toContainText('only-for-42')
      await expect(desk(ada)).toContainText('Grace is looking at your terminals')
      await grace.locator('.watch-screen .xterm-screen').click()
      await grace.keyboard.type('echo not-allowed')
      await lab.run('echo still-mine')
      expect(await lab.screen()).not.toContain('not-allowed')
    })

    await test.step('typing needs leave, which either side ends', async () => {
      await grace.getByRole('button', { name: 'Ask to type' }).click()
      await desk(ada).getByRole('button', { name: 'Let them type' }).click()
      await expect(grace.locator('.watch-allowed')).toHaveText('You can type.')
      await grace.locator('.watch-screen .xterm-screen').click()
      await grace.keyboard.type('echo by-leave-$((40+2))')
      await grace.keyboard.press('Enter')
      await lab.sees('by-leave-42')
      await expect(desk(ada)).toContainText('Grace can type in your terminals')
      await desk(ada).getByRole('button', { name: 'End it' }).click()
      await expect(grace.getByRole('button', { name: 'Ask to type' })).toBeVisible()
      await grace.getByRole('button', { name: 'Stop watching' }).click()
      await expect(desk(ada)).not.toContainText('Grace')
    })

    await test.step('terminal output is never markup', async () => {
      await lab.type(`printf '<img src=x onerror=alert(1)>\\n\\033]8;;javascript:alert(1)\\007link\\033]8;;\\007\\n'`)
      await grace.getByRole('button', { name: 'Watch terminal' }).click()
      await expect(grace.locator('.watch-screen .xterm-rows')).toContainText('<img src=x')
      expect(await grace.locator('.watch-screen img').count()).toBe(0)
      await grace.getByRole('button', { name: 'Stop watching' }).click()
    })

    await test.step('a handout reaches who has a cluster, and says so for each', async () => {
      await grace.getByRole('button', { name: 'Hand out' }).click()
      await grace.getByLabel('Or a script').fill('A broken thing')
      await grace.getByLabel('The script').fill('kubectl create configmap broken -n default --from-literal=a=b')
      await grace.getByRole('dialog').getByRole('button', { name: 'Hand out' }).click()
      await expect(grace.locator('.handout summary')).toContainText('1 left out, 1 done', { timeout: 60_000 })
      await grace.locator('.handout summary').click()
      await expect(grace.locator('.handout li', { hasText: 'Bob' })).toContainText('has no cluster yet')
      await expect(notices(ada)).toContainText('Grace has put something into your cluster: A broken thing')
      await lab.type('clear; kubectl get configmap broken -n default -o name')
      await lab.sees('configmap/broken')
    })

    await test.step('an exercise is reset', async () => {
      await grace.getByRole('button', { name: /^Reset exercise/ }).first().click()
      await grace.getByRole('dialog').getByRole('button', { name: 'Reset exercise' }).click()
      await expect(notices(ada)).toContainText('Grace has reset the exercise', { timeout: 60_000 })
      await expect(row(grace, 'Ada').locator('td.cell').first()).toHaveAttribute('data-state', 'failing', { timeout: 30_000 })
    })

    await test.step('two instructors reset one cluster: it is done once, and both are told', async () => {
      const admin = await school.watch(school.admin)
      await row(admin, 'Ada').getByRole('button').click()
      for (const page of [grace, admin]) await page.getByRole('button', { name: 'Reset cluster' }).click()
      await grace.getByRole('dialog').getByRole('button', { name: 'Reset cluster' }).click()
      await expect(notices(ada)).toContainText('Grace is resetting your cluster')
      await admin.getByRole('dialog').getByRole('button', { name: 'Reset cluster' }).click()
      await expect(notices(grace)).toContainText('The cluster of Ada is reset.', { timeout: 90_000 })
      await expect(notices(admin)).toContainText('was being reset by Grace already. It was done once, for both of you.')
      await lab.clusterIs('ready')
      await lab.type('clear; kubectl get configmap broken -n default')
      await lab.sees('NotFound')
    })
  })

  test('messages stay until they are dismissed, and reach who comes later', async ({ school }) => {
    const cy = await school.learner('Cy')
    const grace = await school.watch()
    await grace.getByRole('button', { name: 'Message all' }).click()
    await grace.getByRole('textbox').fill('Break until <b>ten</b>')
    await grace.getByRole('button', { name: 'Send' }).click()
    await expect(desk(cy)).toContainText('Break until <b>ten</b>')
    await row(grace, 'Cy').getByRole('button').click()
    await grace.getByRole('button', { name: 'Message', exact: true }).click()
    await grace.getByRole('textbox').fill('Well done')
    await grace.getByRole('button', { name: 'Send' }).click()
    await expect(desk(cy)).toContainText('Well done')
    await cy.reload()
    await expect(desk(cy).locator('.message')).toHaveCount(2)
    await desk(cy).getByRole('button', { name: 'Dismiss' }).first().click()
    await expect(desk(cy)).not.toContainText('Break until')
    await cy.reload()
    await expect(desk(cy)).toContainText('Well done')
    await expect(desk(cy).locator('.message')).toHaveCount(1)
    const dan = await school.learner('Dan')
    await expect(desk(dan)).toContainText('Break until <b>ten</b>')
  })

  test('a hand goes up and down, from both sides', async ({ school }) => {
    const eve = await school.learner('Eve')
    const grace = await school.watch()
    await eve.getByRole('button', { name: 'Raise hand' }).click()
    await expect(row(grace, 'Eve').locator('.hand-up')).toBeVisible()
    await expect(grace.locator('.grid tbody tr').first()).toContainText('Eve') // who asks comes first
    await grace.locator('.segment[data-filter=hand]').click()
    await expect(grace.locator('.grid tbody tr')).toHaveCount(1)
    await row(grace, 'Eve').getByRole('button').click()
    await grace.getByRole('button', { name: 'Lower it' }).click()
    await expect(eve.getByRole('button', { name: 'Raise hand' })).toHaveAttribute('aria-pressed', 'false')
    await eve.getByRole('button', { name: 'Raise hand' }).click()
    await expect(grace.locator('.segment[data-filter=hand]')).toContainText('1')
    await eve.getByRole('button', { name: 'Hand is up' }).click()
    await expect(grace.locator('.segment[data-filter=hand]')).toContainText('0')
  })

  test('lessons close and open under the eyes of who is in them; the end moves; progress can be taken along', async ({ school }) => {
    const fay = await school.learner('=HYPERLINK("http://evil")')
    const grace = await school.watch()
    await fay.goto(school.apilab.url + lesson)
    const set = async (open: boolean) => {
      await grace.getByRole('button', { name: 'Lessons' }).click()
      await grace.getByRole('checkbox').first().setChecked(open)
      await grace.getByRole('button', { name: 'Save' }).click()
      await expect(grace.getByRole('dialog')).toHaveCount(0)
    }
    await set(false)
    await expect(desk(fay)).toContainText('has closed this lesson for now')
    await set(true)
    await expect(desk(fay)).not.toContainText('has closed')
    await expect(notices(fay)).toContainText('Grace has opened the lesson')

    await grace.getByRole('button', { name: 'No end' }).click()
    await grace.getByLabel('New end').fill('2030-01-02T10:30')
    await grace.getByRole('button', { name: 'Save' }).click()
    await expect(grace.getByRole('button', { name: /^Ends .*2030/ })).toBeVisible()

    for (const [kind, wants] of [['CSV', `"'=HYPERLINK(`], ['JSON', '"learners"']] as const) {
      await grace.locator('.room-menu summary').click()
      const [download] = await Promise.all([grace.waitForEvent('download'), grace.getByRole('link', { name: kind }).click()])
      expect(download.suggestedFilename()).toMatch(new RegExp(`^apilab-Tuesday-.*\\.${kind.toLowerCase()}$`))
      expect(readFileSync(await download.path(), 'utf8')).toContain(wants)
      await grace.locator('.room-menu summary').click()
    }
  })

  test('who runs no class sees none', async ({ school }) => {
    const max = await school.learner('Max')
    const answer = await max.goto(school.apilab.url + school.class)
    expect(answer?.status()).toBe(403)
    await expect(max.locator('main')).not.toContainText('Ada')
  })
})

test.describe('a class of sixty', () => {
  test.use({ viewport: { width: 1366, height: 768 } })

  async function open(sixty: Sixty, browser: Browser, path = '', options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    const page = await somebody(browser, { viewport: { width: 1366, height: 768 }, storageState: instructors.get(sixty), reducedMotion: 'reduce', ...options })
    if (!instructors.has(sixty)) {
      await page.goto(sixty.signIn)
      await page.getByRole('button', { name: /^Sign in/ }).click()
      await page.waitForURL(sixty.url + '/**')
      instructors.set(sixty, await page.context().storageState())
    }
    await page.goto(sixty.url + sixty.class + path)
    return page
  }

  test('it fits a laptop, sorts and filters, and hides names', async ({ sixty, browser }) => {
    const page = await open(sixty, browser)
    const rows = page.locator('.grid tbody tr')
    await expect(rows).toHaveCount(60)
    expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBeLessThanOrEqual(0)
    const boxes = await page.locator('.grid tbody th button bdi').evaluateAll((names) => names.filter((n) => n.getBoundingClientRect().right > innerWidth).length)
    expect(boxes, 'names beyond the edge').toBe(0)
    await expect(rows.first().locator('.hand-up')).toBeVisible()
    for (const [filter, sign] of [['stuck', '.stuck'], ['hand', '.hand-up'], ['idle', '.faint']] as const) {
      await page.locator(`.segment[data-filter=${filter}]`).click()
      const count = Number(await page.locator(`.segment[data-filter=${filter}] b`).textContent())
      expect(count).toBeGreaterThan(0)
      await expect(rows).toHaveCount(count)
      if (filter !== 'stuck') await expect(rows.locator(sign)).toHaveCount(count)
    }
    await page.locator('.segment[data-filter=all]').click()
    await page.getByRole('searchbox', { name: 'Find by name' }).fill('knuth')
    await expect(rows).toHaveCount(1)
    await page.getByRole('searchbox', { name: 'Find by name' }).fill('')
    await page.getByLabel('Sort').selectOption('name')
    await expect(rows.first()).toContainText('Ada Lovelace')
    await page.getByRole('button', { name: 'Hide names' }).click()
    await expect(page.locator('main')).not.toContainText('Lovelace')
  })

  test('the keyboard goes everywhere', async ({ sixty, browser }) => {
    const page = await open(sixty, browser)
    await page.getByLabel('Sort').selectOption('seat')
    await page.locator('.grid tbody th button').first().focus()
    await page.keyboard.press('ArrowRight')
    await expect(page.locator('td.cell:focus')).toHaveAttribute('aria-label', /^Ada Lovelace, check 1/)
    await page.keyboard.press('ArrowDown')
    await expect(page.locator('td.cell:focus')).toHaveAttribute('aria-label', /^Alan Turing, check 1/)
    await page.keyboard.press('Control+End')
    await expect(page.locator('td.cell:focus')).toHaveAttribute('aria-label', /^Yukihiro Matsumoto, check 7/)
    await page.keyboard.press('Enter')
    await expect(page.getByRole('heading', { name: 'Yukihiro Matsumoto' })).toBeFocused()
    await page.keyboard.press('Escape')
    await expect(page.locator('.grid tbody th button:focus')).toHaveText('Yukihiro Matsumoto')
  })

  test('the projector names nobody', async ({ sixty, browser }) => {
    const page = await open(sixty, browser, '?projector', { viewport: { width: 1280, height: 720 } })
    await expect(page.locator('.board-checks > li')).toHaveCount(7)
    expect(await page.content()).not.toContain('Lovelace')
    const size = await page.locator('.board-says').first().evaluate((e) => Number.parseFloat(getComputedStyle(e).fontSize))
    expect(size, 'the size of a check on the wall').toBeGreaterThanOrEqual(20)
    expect(await page.evaluate(() => document.documentElement.scrollHeight - innerHeight), 'what is below the edge of the wall').toBeLessThanOrEqual(0)
  })

  for (const colorScheme of ['light', 'dark'] as const) {
    test(`axe finds nothing in ${colorScheme}`, async ({ sixty, browser }) => {
      const page = await open(sixty, browser, '', { colorScheme, bypassCSP: true })
      await expect(page.locator('.grid tbody tr')).toHaveCount(60)
      expect(await violations(page)).toEqual([])
      await page.locator('.grid tbody th button').first().click()
      expect(await violations(page)).toEqual([])
      await page.getByRole('button', { name: 'Hand out' }).click()
      expect(await violations(page)).toEqual([])
      await page.keyboard.press('Escape')
      await page.goto(`${sixty.url}${sixty.class}?projector`)
      await expect(page.locator('.board-checks > li').first()).toBeVisible()
      expect(await violations(page)).toEqual([])
    })
  }
})

const instructors = new Map<Sixty, Awaited<ReturnType<import('@playwright/test').BrowserContext['storageState']>>>()
