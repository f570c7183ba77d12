import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test as base } from '@playwright/test'
import { Apilab } from './apilab'
import { Lab } from './lab'

const minutes = 60_000
const lesson = '/lessons/real-nodes/logs-exec-attach'
const exercise = 'real-nodes/read-what-it-said'
const largest = 250 * 1024 // bytes of a picture, as in screenshots/

const test = base.extend<{ apilab: Apilab }>({
  apilab: async ({}, use) => {
    const apilab = await new Apilab().start()
    await use(apilab)
    await apilab.dispose()
  },
})

test.skip(process.env['APILAB_E2E_KIND'] !== '1', 'it needs a container engine; make test-kind runs it')

test('from the embedded cluster to real nodes and back', async ({ page, apilab }, info) => {
  test.setTimeout(20 * minutes)
  // With APILAB_E2E_PICTURE=1 the one in docs/ is made anew.
  const picture = process.env['APILAB_E2E_PICTURE'] === '1' ? join(__dirname, '../../docs/kind-creation.png') : info.outputPath('creation.png')
  const lab = new Lab(page, apilab.url)
  const strip = page.locator('.bench-strip')
  const menu = page.locator('.cluster-menu')
  await page.goto(apilab.signIn)

  await test.step('what wants real nodes waits for them', async () => {
    await lab.ready(lesson)
    await lab.run('kubectl create configmap kept -n default')
    await expect(lab.check(exercise, 'asked')).toHaveAttribute('state', 'closed')
  })

  await test.step('the switch shows its steps', async () => {
    await lab.exercise(exercise).getByRole('button', { name: 'Switch to a kind cluster (about half a minute)' }).click()
    await lab.clusterIs('creating')
    await expect(strip.locator('h2')).toContainText('Making your kind cluster')
    await expect(strip.locator('.phases li.done-phase').nth(2)).toBeVisible({ timeout: 5 * minutes })
    await expect(strip.getByRole('button', { name: 'Cancel' })).toBeVisible()
    await page.emulateMedia({ colorScheme: 'light' })
    await page.screenshot({ path: picture, animations: 'disabled' })
    expect(statSync(picture).size).toBeLessThanOrEqual(largest)
    await lab.clusterIs('ready', 8 * minutes)
    await expect(strip).toHaveCount(0)
    await lab.cluster.click()
    await expect(menu).toContainText(/kind · Kubernetes v1\.\d+\.\d+ · 1 node, real containers/)
    await page.keyboard.press('Escape')
  })

  await test.step('the same terminal reaches the containers, and the check sees it', async () => {
    await expect(lab.exercise(exercise).locator('apilab-wants')).toBeHidden()
    await expect(lab.check(exercise, 'asked')).toHaveAttribute('state', 'failing', { timeout: 3 * minutes })
    await lab.type('clear; kubectl logs foghorn -n lighthouse --previous')
    await lab.sees('the signal was seven-short-blasts')
    await expect(lab.check(exercise, 'asked')).toHaveAttribute('state', 'passing', { timeout: 30_000 })
    await lab.check(exercise, 'signal').getByRole('textbox').fill('seven-short-blasts')
    await lab.check(exercise, 'signal').getByRole('button', { name: 'Check' }).click()
    await expect(lab.check(exercise, 'signal')).toHaveAttribute('state', 'passing')
  })

  await test.step('the nodes have logs', async () => {
    await lab.cluster.click()
    await page.getByRole('link', { name: 'Node logs' }).click()
    await page.getByRole('link', { name: /kubelet\.log$/ }).first().click()
    await expect(page.locator('body')).toContainText('kubelet')
  })

  await test.step('what wants the embedded cluster waits for that', async () => {
    await lab.open('/lessons/kubernetes-today/success-by-policy')
    await expect(page.locator('.exercise apilab-wants').first()).toContainText('Needs the embedded cluster')
  })

  await test.step('a start is given up, and the embedded cluster is as it was', async () => {
    await lab.ready(lesson)
    await lab.cluster.click()
    await menu.getByRole('button', { name: 'Reset cluster' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Reset cluster' }).click()
    await lab.clusterIs('creating', 2 * minutes)
    await strip.getByRole('button', { name: 'Cancel' }).click()
    await lab.clusterIs('absent', 2 * minutes)
    await strip.getByRole('button', { name: 'Back to the embedded cluster' }).click()
    await lab.clusterIs('ready')
    await lab.type('clear; kubectl get configmap kept -n default -o name')
    await lab.sees('configmap/kept')
    await expect(lab.exercise(exercise).locator('apilab-wants')).toBeVisible()
    await expect(lab.check(exercise, 'asked')).toHaveAttribute('state', 'passing') // once is for ever
  })
})
