import { expect, test } from './test'

const lesson = '/lessons/crds-and-operators/anatomy-of-a-crd'

test('all exercises of a lesson are prepared before anyone scrolls to them', async ({ lab, page }) => {
  test.slow() // one after the other
  await lab.ready(lesson)
  const cards = page.locator('apilab-exercise')
  expect(await cards.count()).toBeGreaterThan(3)
  await expect(page.locator('apilab-check[state="closed"]')).toHaveCount(0, { timeout: 120_000 })
  await expect(cards.locator('.exercise-state')).toHaveCount(0, { timeout: 120_000 })
  expect(await page.evaluate(() => scrollY)).toBe(0)
})

test('a probe that failed is run again when the learner asks', async ({ lab, page }) => {
  const asked: string[] = []
  page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => asked.push(String(payload))))
  await lab.ready(lesson)
  const check = lab.check('crds-and-operators/bound-a-field', 'required')
  await check.scrollIntoViewIfNeeded()
  await expect(check).toHaveAttribute('state', 'failing', { timeout: 30_000 })
  const again = check.getByRole('button', { name: /^Try again/ })
  await again.focus()
  await page.keyboard.press('Enter')
  await expect.poll(() => asked.some((m) => m.includes('"exercise.answer"') && m.includes('"check":"required"') && m.includes('"value":""'))).toBe(true)
  await expect(check.locator('.check-detail')).not.toBeEmpty()
  await expect(lab.exercise('crds-and-operators/bound-a-field').locator('[role=alert]')).toHaveCount(0)
  await expect(page.locator('apilab-check:not([kind=probe]), apilab-check[state=waiting]').getByRole('button', { name: /^Try again/ })).toHaveCount(0)
})
