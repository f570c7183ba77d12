import { lessons } from './lab'
import { expect, test } from './test'

test('a control plane that is killed is noticed, shown, and healed with its objects', async ({ lab, page, apilab }) => {
  await lab.ready(lessons.first)
  await lab.run('kubectl create configmap survivor -n default --dry-run=client -o yaml | kubectl apply -f -')
  process.kill(apilab.controlPlane(), 'SIGKILL')
  await lab.clusterIs('healing')
  await expect(page.locator('.bench-strip')).toContainText('restarted with its data')
  await lab.clusterIs('ready')
  await lab.type('clear; kubectl get configmap survivor -n default -o name')
  await lab.sees('configmap/survivor')
})

test('the server is killed and started again: the page comes back by itself, with the cluster', async ({ lab, page, apilab }) => {
  await lab.ready(lessons.first)
  await lab.run('kubectl create configmap kept -n default --dry-run=client -o yaml | kubectl apply -f -')
  await apilab.end('SIGKILL')
  await expect(page.locator('.connection')).toContainText('Reconnecting')
  await apilab.start()
  await expect(page.locator('.connection')).toHaveCount(0, { timeout: 20_000 })
  await lab.clusterIs('ready')
  await lab.prompt()
  await lab.type('clear; kubectl get configmap kept -n default -o name')
  await lab.sees('configmap/kept')
})

test('a reset makes a new cluster', async ({ lab, page }) => {
  await lab.ready(lessons.first)
  await lab.run('kubectl create namespace to-be-gone')
  await lab.cluster.click()
  await page.getByRole('button', { name: 'Reset cluster' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Reset cluster' }).click()
  await expect(lab.cluster).not.toHaveAttribute('data-state', 'ready')
  await lab.clusterIs('ready')
  await lab.type('clear; kubectl get namespace to-be-gone')
  await lab.sees('NotFound')
})

test('the newest version is known before anything is done, and moves with the learner', async ({ lab, page }) => {
  await lab.open('/')
  await lab.clusterIs('ready')
  const version = page.locator('.version-value')
  await expect(version).toHaveText(/^\d+$/)
  await lab.ready(lessons.first)
  const before = Number(await version.textContent())
  await lab.run('kubectl create configmap newest -n default; kubectl delete configmap newest -n default')
  await expect.poll(async () => Number(await version.textContent())).toBeGreaterThan(before)
})

test('the menu tells what the cluster is and costs, and gives its kubeconfig', async ({ lab, page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await lab.ready(lessons.first)
  await lab.cluster.click()
  await expect(page.locator('.cluster-menu')).toContainText(/Kubernetes v1\.\d+/)
  await expect(page.locator('.usage dd').first()).toHaveText(/\d+ MiB/)
  await page.getByRole('button', { name: 'Copy kubeconfig' }).click()
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain('kind: Config')
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download' }).click()])
  expect(download.suggestedFilename()).toBe('apilab.kubeconfig')
  await page.keyboard.press('Escape')
  await expect(page.locator('.cluster-menu')).toHaveCount(0)
})
