import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@playwright/test'
import { Sixty } from '../sixty'

const docs = join(__dirname, '../../../docs')
const largest = 250 * 1024 // bytes of one picture: a README is read on slow lines too

test('a class of sixty, in light and dark, and on the wall', async ({ browser }) => {
  const sixty = await new Sixty().start()
  const page = await browser.newPage({ viewport: { width: 1366, height: 768 }, reducedMotion: 'reduce' })
  try {
    await page.goto(sixty.signIn)
    await page.getByRole('button', { name: /^Sign in/ }).click()
    await page.goto(sixty.url + sixty.class)
    await expect(page.locator('.grid tbody tr')).toHaveCount(60)
    await expect(page.locator('.live')).toBeVisible()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await take(`instructor-${colorScheme}`)
    }
    await page.emulateMedia({ colorScheme: 'light' })
    await page.goto(`${sixty.url}${sixty.class}?projector`)
    await expect(page.locator('.board-checks > li').first()).toBeVisible()
    await take('instructor-projector')
  } finally {
    await page.close()
    await sixty.dispose()
  }

  async function take(name: string): Promise<void> {
    const path = join(docs, `${name}.png`)
    await page.screenshot({ path, animations: 'disabled' })
    expect(statSync(path).size, path).toBeLessThanOrEqual(largest)
  }
})
