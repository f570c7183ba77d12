import { lessons } from './lab'
import { expect, test } from './test'

const track = '/tracks/api-machinery'
const sheet = '/reference/api-machinery/cheat-sheet'

test('from home to a track, and from there to where one left off', async ({ lab, page }) => {
  await lab.open(lessons.versions)
  await lab.open('/')
  await expect(page.locator('.continue')).toContainText('Every object has a version')
  await page.locator('.track-card').getByRole('link', { name: 'API machinery' }).click()
  await expect(page).toHaveURL(new RegExp(`${track}$`))
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('API machinery')
  for (const fact of ['Time', 'Lessons', 'Exercises', 'Difficulty', 'Builds on']) await expect(page.locator('.track-table')).toContainText(fact)
  await expect(page.locator('.lesson-item.current')).toContainText('Every object has a version')
  await page.locator('.lesson-item').first().getByRole('link', { name: 'Talk to the API without kubectl' }).click()
  await expect(page).toHaveURL(/one-server-many-clients#exercise-api-machinery-talk-to-the-api$/)
  await lab.open(track)
  await page.locator('.continue').click()
  await expect(page).toHaveURL(/\/lessons\/api-machinery\//)
})

test('a lesson leads to the ones beside it, over the end of a track too', async ({ lab, page }) => {
  await lab.open(lessons.first)
  await expect(page.locator('.lesson-foot .prev')).toHaveCount(0)
  await page.locator('.lesson-foot .next').click()
  await expect(page).toHaveURL(/\/eight-verbs$/)
  await page.locator('.lesson-foot .prev').click()
  await expect(page).toHaveURL(new RegExp(`${lessons.first}$`))
  await lab.open(track)
  await page.locator('.lesson-item .lesson-title').last().click()
  await expect(page.locator('.lesson-foot .next')).toContainText('Next track')
  await page.locator('.lesson-foot .next').click()
  await expect(page).not.toHaveURL(/api-machinery/)
  await expect(page.locator('.lesson-foot .prev')).toContainText('in API machinery')
})

test('search needs no mouse, forgives a slip, and no network once it is open', async ({ lab, page, context }) => {
  await lab.open('/')
  await page.keyboard.press('/')
  const field = page.getByRole('combobox')
  await expect(field).toBeFocused()
  await page.keyboard.type('finaliser')
  const results = page.getByRole('option')
  await expect(results.first()).toContainText(/finalizer/i)
  await expect(page.getByRole('dialog').getByRole('status')).toHaveText(/\d+ results/)
  await context.setOffline(true)
  await field.fill('resource version')
  await expect(results.first()).toContainText(/version/i)
  await context.setOffline(false)
  await expect(results.first()).toHaveAttribute('aria-selected', 'true')
  await page.keyboard.press('ArrowDown')
  await expect(results.nth(1)).toHaveAttribute('aria-selected', 'true')
  await expect(field).toHaveAttribute('aria-activedescendant', 'result-1')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowUp') // around to the last
  await expect(results.last()).toHaveAttribute('aria-selected', 'true')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toBeHidden()
  await page.keyboard.press('/')
  await field.fill('zebrafish')
  await expect(page.getByRole('dialog').getByRole('status')).toContainText('Nothing has')
  await field.fill('fall off history')
  const url = await results.first().getAttribute('href')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(lab.url + url)
})

test('a term is explained on focus and on hover, and Escape closes', async ({ lab, page }) => {
  await lab.open(lessons.first)
  const terms = page.locator('.term > a')
  const term = terms.first()
  const card = page.locator('#term-card')
  await page.locator('.outline summary').focus()
  await page.keyboard.press('Tab')
  await expect(term).toBeFocused()
  await expect(term).toHaveRole('button')
  await expect(term).toHaveAttribute('aria-expanded', 'true')
  await expect(term).toHaveAccessibleDescription(/\w+ .*\./)
  await expect(card).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(card).toBeHidden()
  await expect(term).toBeFocused()
  await page.keyboard.press('Space')
  await expect(card).toBeVisible()
  await page.keyboard.press('Tab') // into the card
  await expect(card.getByRole('link', { name: 'Glossary' })).toBeFocused()
  await page.keyboard.press('Escape')
  await expect(term).toBeFocused()
  await page.keyboard.press('Tab')
  await expect(terms.nth(1)).toBeFocused()
  await expect(term).toHaveAttribute('aria-expanded', 'false')
  await page.keyboard.press('Escape')

  await term.hover()
  await expect(card).toBeVisible()
  await card.hover() // the way into the card does not close it
  await page.waitForTimeout(500)
  await expect(card).toBeVisible()
  await page.mouse.move(2, 2)
  await expect(card).toBeHidden()
  await expect(page).toHaveURL(lab.url + lessons.first)
})

test('the glossary has what a term’s card leads to, and narrows', async ({ lab, page }) => {
  await lab.open('/glossary#etcd')
  await expect(page.locator('#etcd')).toBeInViewport()
  await page.getByRole('searchbox', { name: 'Filter' }).fill('database')
  await expect(page.getByRole('main').getByRole('status')).toHaveText(/^\d of \d+ terms$/)
  await expect(page.locator('#etcd')).toBeVisible()
  await expect(page.locator('#label')).toBeHidden()
  await page.keyboard.press('Escape')
  await expect(page.locator('#label')).toBeVisible()
})

test('a reference page narrows as one types, and its commands run', async ({ lab, page }) => {
  await lab.ready(sheet)
  const body = page.locator('#reference-body')
  const filter = page.getByRole('searchbox', { name: 'Filter' })
  const rows = await body.locator('tbody tr').count()
  await filter.fill('whoami')
  await expect(body.locator('tbody tr:visible')).toHaveCount(1)
  await expect(body.locator('h2:visible')).toHaveCount(1)
  await expect(body.locator('tbody tr:visible')).toContainText('who you are')
  await filter.fill('no such thing')
  await expect(body.locator('h2:visible')).toHaveCount(0)
  await expect(page.getByRole('main').getByRole('status')).toHaveText(/^None of/)
  await filter.fill('')
  await expect(body.locator('tbody tr:visible')).toHaveCount(rows)
  await page.getByRole('button', { name: 'Run kubectl auth whoami' }).click()
  await lab.sees(/Username\s+learner/)
})

test.describe('with a finger, at 360 pixels', () => {
  test.use({ viewport: { width: 360, height: 740 }, hasTouch: true })

  test('a tap explains a term, and a tap elsewhere closes', async ({ lab, page }) => {
    await lab.open(lessons.first)
    const card = page.locator('#term-card')
    for (const term of (await page.locator('.term > a').all()).slice(0, 5)) {
      await term.tap()
      await expect(card).toBeVisible()
      const box = await card.boundingBox()
      expect(box?.x).toBeGreaterThanOrEqual(0)
      expect((box?.x ?? 0) + (box?.width ?? 999)).toBeLessThanOrEqual(360)
      await page.getByRole('heading', { level: 1 }).tap() // elsewhere
      await expect(card).toBeHidden()
    }
    await expect(page).toHaveURL(lab.url + lessons.first)
  })

  test('nothing is cut off on the pages around the lessons', async ({ lab, page }) => {
    for (const path of ['/', track, '/glossary', sheet, '/search?q=resource+version']) {
      await lab.open(path)
      expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), path).toBeLessThanOrEqual(0)
    }
  })

  test('the bar says which lesson it is, and no table of a reference page hides its commands', async ({ lab, page }) => {
    for (const path of [lessons.versions, sheet]) {
      await lab.open(path)
      await lab.clusterIs('ready')
      const title = await page.locator('.bar [aria-current="page"]').first().boundingBox()
      const rest = await page.locator('.bar-end').boundingBox()
      expect(title?.width, path).toBeGreaterThan(60)
      expect((title?.x ?? 0) + (title?.width ?? 999), path).toBeLessThanOrEqual(rest?.x ?? 0)
    }
    await page.locator('.table').first().waitFor()
    const hidden = await page.locator('.reference .table').evaluateAll((tables) => tables.filter((t) => t.scrollWidth > t.clientWidth).map((t) => t.textContent?.slice(0, 60)))
    expect(hidden).toEqual([])
  })

  test('no long word makes a lesson wider than the screen', async ({ lab, page }) => {
    test.slow()
    await page.routeWebSocket(/\/ws$/, () => undefined) // no cluster is needed, and no exercise opened
    await lab.open('/')
    const links = (prefix: string) => page.locator(`main a[href^="${prefix}"]`).evaluateAll((all) => [...new Set(all.map((a) => new URL((a as HTMLAnchorElement).href).pathname))])
    const wide: string[] = []
    for (const track of await links('/tracks/')) {
      await lab.open(track)
      for (const path of await links('/lessons/')) {
        await page.goto(lab.url + path, { waitUntil: 'domcontentloaded' })
        await page.locator('.predict-option, .predict').first().waitFor({ state: 'attached' })
        if (await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth)) wide.push(path)
      }
    }
    expect(wide).toEqual([])
  })
})

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false })

  test('a term leads to the glossary, and all pages can be read', async ({ lab, page }) => {
    await lab.open(track)
    await expect(page.locator('.lesson-item').first()).toBeVisible()
    await lab.open(sheet)
    await expect(page.locator('#reference-body table').first()).toBeVisible()
    await expect(page.locator('.filter')).toBeHidden()
    await lab.open(lessons.first)
    await page.locator('.term > a').first().click()
    await expect(page).toHaveURL(/\/glossary#[\w-]+$/)
    await expect(page.locator('.terms > div:target')).toBeInViewport()
  })

  test('the search is a page', async ({ lab, page }) => {
    await lab.open('/')
    await page.getByRole('link', { name: 'Search lessons, exercises and terms' }).click()
    await page.getByRole('searchbox').fill('what is a finalizer')
    await page.getByRole('button', { name: 'Search' }).click()
    await expect(page).toHaveURL(/\/search\?q=what\+is\+a\+finalizer$/)
    await expect(page.locator('.results a').first()).toContainText(/finalizer/i)
    await page.locator('.results a').first().click()
    await expect(page).not.toHaveURL(/\/search/)
  })
})

test('pages come quickly however many lessons there are', async ({ lab, page, request, apilab }) => {
  const time = async (path: string) => {
    const times: number[] = []
    for (let i = 0; i < 7; i++) {
      const start = performance.now()
      await (await request.get(apilab.url + path)).body()
      times.push(performance.now() - start)
    }
    return Math.min(...times) // what the server needs; the rest is what else the machine does
  }
  await lab.open('/')
  await expect(page.locator('.track-card').first()).toBeVisible()
  for (const path of ['/', track, lessons.versions, '/glossary', sheet, '/search.json', '/search?q=watch+a+resource+version']) {
    const fastest = await time(path)
    test.info().annotations.push({ type: 'fastest', description: `${path} ${fastest.toFixed(1)} ms` })
    expect(fastest, path).toBeLessThan(100)
  }
})
