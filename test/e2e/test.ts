import { test as base, expect, type BrowserContext } from '@playwright/test'
import { Apilab } from './apilab'
import { Lab } from './lab'

interface WorkerFixtures {
  apilab: Apilab
  session: Awaited<ReturnType<BrowserContext['storageState']>>
}

/** `lab` is a page on a server that the tests of a worker share; nobody's cluster is new, and nobody's order matters. */
export const test = base.extend<{ lab: Lab }, WorkerFixtures>({
  apilab: [
    async ({}, use) => {
      const apilab = await new Apilab().start()
      await use(apilab)
      await apilab.dispose()
    },
    { scope: 'worker', timeout: 60_000 },
  ],
  session: [
    async ({ apilab, browser }, use) => {
      const context = await browser.newContext()
      await (await context.newPage()).goto(apilab.signIn)
      await use(await context.storageState())
      await context.close()
    },
    { scope: 'worker', timeout: 60_000 },
  ],
  storageState: ({ session }, use) => use(session),
  lab: async ({ page, apilab }, use) => {
    const errors: string[] = []
    page.on('pageerror', (error) => errors.push(error.message))
    await use(new Lab(page, apilab.url))
    expect(errors, 'errors in the page').toEqual([])
  },
})

export { expect }
