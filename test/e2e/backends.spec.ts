import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test as base } from '@playwright/test'
import { Apilab } from './apilab'
import { Lab } from './lab'

const lesson = '/lessons/real-nodes/logs-exec-attach'
const exercise = 'real-nodes/read-what-it-said'

/** Servers on machines that cannot have a kind cluster: `bare` has no container engine, on `down` its daemon does not run. */
const test = base.extend<{ bare: Apilab; down: Apilab }>({
  bare: async ({}, use) => {
    const apilab = await new Apilab({ PATH: '/nowhere', KIND_EXPERIMENTAL_PROVIDER: '' }).start()
    await use(apilab)
    await apilab.dispose()
  },
  down: async ({}, use) => {
    const bin = mkdtempSync(join(tmpdir(), 'apilab-e2e-bin-'))
    const docker = join(bin, 'docker')
    writeFileSync(docker, '#!/bin/sh\n[ "$1" = -v ] && echo "Docker version 29.0.0" && exit\necho "Cannot connect to the Docker daemon at unix:///var/run/docker.sock." >&2\nexit 1\n')
    chmodSync(docker, 0o755)
    const apilab = await new Apilab({ PATH: bin, KIND_EXPERIMENTAL_PROVIDER: '' }).start()
    await use(apilab)
    await apilab.dispose()
    rmSync(bin, { recursive: true })
  },
})

test.beforeEach(() => test.slow()) // each has a server of its own

test('without a container engine, a lesson on real nodes says what it needs and what to install', async ({ page, bare }) => {
  const asked: string[] = []
  page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => asked.push(String(payload))))
  const lab = new Lab(page, bare.url)
  await page.goto(bare.signIn)
  await lab.open('/tracks/real-nodes')
  await expect(page.locator('.lesson-item .badge').first()).toHaveText('real nodes')
  await lab.ready(lesson)
  const wants = lab.exercise(exercise).locator('apilab-wants')
  await wants.scrollIntoViewIfNeeded()
  await expect(wants).toContainText('Needs real nodes')
  await expect(wants).toContainText('Install Docker or Podman')
  await expect(wants.getByRole('button')).toHaveCount(0)
  await expect(lab.check(exercise, 'asked')).toHaveAttribute('state', 'closed')
  await expect(lab.exercise(exercise).getByRole('button', { name: 'Show solution' })).toBeDisabled()
  await lab.cluster.click()
  await expect(page.locator('.cluster-menu')).toContainText('pods are simulated')
  await expect(page.getByRole('button', { name: /^Switch/ })).toHaveCount(0)
  expect(asked.filter((m) => m.includes('"exercise.open"'))).toEqual([])
})

test('where the engine does not work, a switch says so and leaves the cluster as it was', async ({ page, down }) => {
  const lab = new Lab(page, down.url)
  await page.goto(down.signIn)
  await lab.ready(lesson)
  await lab.run('kubectl create configmap kept -n default')
  await lab.exercise(exercise).getByRole('button', { name: 'Switch to a kind cluster (about half a minute)' }).click()
  const strip = page.locator('.bench-strip')
  await expect(strip).toContainText('You are back on your embedded cluster', { timeout: 60_000 })
  await expect(strip.locator('.reason')).toContainText('Cannot connect to the Docker daemon')
  await expect(strip.getByRole('button', { name: 'Try a kind cluster again' })).toBeVisible()
  await strip.getByRole('button', { name: 'Go on here' }).click()
  await expect(strip).toHaveCount(0)
  await lab.type('clear; kubectl get configmap kept -n default -o name')
  await lab.sees('configmap/kept')
  await lab.cluster.click()
  await page.getByRole('link', { name: 'Node logs' }).click()
  await expect(page.getByRole('main')).toContainText('--kind-keep-logs')
})

test('without JavaScript the page says what it needs', async ({ browser, bare }) => {
  const context = await browser.newContext({ javaScriptEnabled: false })
  const page = await context.newPage()
  await page.goto(bare.signIn)
  await page.goto(bare.url + lesson)
  await expect(page.locator('.lesson-head apilab-wants')).toContainText('Needs real nodes')
  await expect(page.locator('.facts .badge')).toHaveText('real nodes')
  await context.close()
})
