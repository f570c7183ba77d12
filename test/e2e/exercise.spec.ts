import { lessons } from './lab'
import { expect, test } from './test'

const id = 'api-machinery/read-a-resource-version'

test.beforeEach(async ({ lab, page }) => {
  await lab.ready(lessons.versions)
  await lab.exercise(id).scrollIntoViewIfNeeded()
  await lab.exercise(id).getByRole('button', { name: 'Reset exercise' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Reset exercise' }).click()
  // The card was open before: what is sent while it is being prepared anew does not count.
  await expect(lab.exercise(id).locator('.exercise-state')).toContainText('Preparing')
  await expect(lab.exercise(id).locator('.exercise-state')).toHaveCount(0, { timeout: 30_000 })
  await expect(lab.check(id, 'moved')).toHaveAttribute('state', 'failing')
})

test('checks turn green while the learner works, and say why', async ({ lab, page }) => {
  await expect(lab.check(id, 'unmoved')).toHaveAttribute('state', 'waiting')
  await lab.run('kubectl annotate configmap ledger -n api-lab lab/checked=yes')
  await expect(lab.check(id, 'moved')).toHaveAttribute('state', 'passing')
  await expect(lab.check(id, 'unmoved')).toHaveAttribute('state', 'failing')
  await lab.run('kubectl annotate configmap ledger -n api-lab lab/checked=yes')
  await expect(lab.check(id, 'unmoved')).toHaveAttribute('state', 'passing')
  await expect(page.getByRole('status').filter({ hasText: 'Passed:' })).toHaveCount(1)
  await expect(lab.check(id, 'moved').locator('.evidence')).toHaveText('PATCH /api/v1/namespaces/api-lab/configmaps/ledger → 200')
})

test('a wrong answer says why not, a right one passes', async ({ lab }) => {
  const check = lab.check(id, 'version')
  await check.getByRole('textbox').fill('1')
  await check.getByRole('button', { name: 'Check' }).click()
  await expect(check).toHaveAttribute('state', 'failing')
  await expect(check.locator('.check-detail')).not.toBeEmpty()
  await lab.type("clear; kubectl get configmap ledger -n api-lab -o jsonpath='{.metadata.resourceVersion}{\"\\n\"}'")
  await lab.sees(/^\d+$/m)
  await check.getByRole('textbox').fill(/^\d+$/m.exec(await lab.screen())?.[0] ?? '')
  await check.getByRole('button', { name: 'Check' }).click()
  await expect(check).toHaveAttribute('state', 'passing')
  await expect(check.getByRole('textbox')).toBeDisabled()
})

test('a wrong pick says why, and another may be picked', async ({ lab }) => {
  const check = lab.check(id, 'allowed')
  await check.getByRole('radio').nth(2).check()
  await expect(check.locator('.check-detail')).toContainText('all other objects')
  await check.getByRole('radio', { name: 'two Pods in different namespaces' }).check()
  await expect(check).toHaveAttribute('state', 'passing')
})

test('hints come one at a time', async ({ lab }) => {
  const check = lab.check(id, 'version')
  await check.getByRole('button', { name: /^Hint/ }).click()
  await expect(check.locator('.hints li')).toHaveCount(1)
  await check.getByRole('button', { name: /^Another hint/ }).click()
  await expect(check.locator('.hints li')).toHaveCount(2)
})
