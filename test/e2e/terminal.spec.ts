import { lessons } from './lab'
import { Line } from './line'
import { expect, test } from './test'

const ticks = (n: number) => Array.from({ length: n }, (_, i) => `tick ${i + 1}.`).join('\n')
const count = (n: number, pause: string) => `clear; for i in $(seq 1 ${n}); do echo "tick $i."; sleep ${pause}; done`

test('a reload in the middle of a running command loses and doubles nothing', async ({ lab, page }) => {
  await lab.ready(lessons.first)
  await lab.type(count(12, '0.3'))
  await lab.sees('tick 3.')
  await page.reload()
  await lab.sees('tick 12.')
  expect(await lab.screen()).toContain(ticks(12))
})

test('what was edited over wrapped lines is redrawn as it was: after a reload, in a tab behind, at another width', async ({ lab, page }) => {
  const words = (name: string) => Array.from({ length: 14 }, (_, i) => `${name}-word-${i + 1}`).join(' ')
  // Goes back over the wrap and inserts: the editor moves the cursor up, and redraws.
  const edit = async (name: string) => {
    await lab.run('true') // an empty screen
    await page.keyboard.type(`echo ${words(name)}`)
    await page.keyboard.press('Home')
    for (let i = 0; i < 5; i++) await page.keyboard.press('ArrowRight')
    await page.keyboard.type('inserted ')
    await page.keyboard.press('Enter')
    await lab.sees(`inserted ${name}-word-1`)
    await lab.prompt()
  }
  const tab = (n: number) => page.getByRole('tab').nth(n)
  const whole = async () => (await lab.screen()).replaceAll('\n', '')
  await lab.ready(lessons.first)
  await edit('first')
  const first = await lab.screen()
  await page.keyboard.press('Control+Shift+Backquote')
  await expect(page.getByRole('tab')).toHaveCount(3)
  await lab.prompt()
  await edit('second')
  const second = await lab.screen()

  await page.reload()
  for (const [n, screen] of [first, second].entries()) {
    await tab(n).click()
    await expect.poll(() => lab.screen()).toBe(screen)
  }
  await page.goto('about:blank')
  await page.setViewportSize({ width: 1100, height: 800 })
  await lab.open(lessons.first)
  for (const [n, name] of ['first', 'second'].entries()) {
    await tab(n).click()
    const said = `inserted ${words(name)}`
    await expect.poll(async () => (await whole()).replaceAll(' ', '')).toContain(`echo ${said}${said}`.replaceAll(' ', ''))
    expect((await whole()).match(new RegExp(`${name}-word-7`, 'g'))).toHaveLength(2)
  }
  await page.getByRole('button', { name: /^Close / }).last().click()
  await expect(page.getByRole('tab')).toHaveCount(2)
})

test('the tab in front stays in front over a reload and in the next lesson', async ({ lab, page }) => {
  await lab.ready(lessons.first)
  await page.keyboard.press('Control+Shift+Backquote')
  await expect(page.getByRole('tab')).toHaveCount(3)
  await expect(page.getByRole('tab').nth(1)).toHaveAttribute('aria-selected', 'true')
  await page.reload()
  await lab.prompt()
  await expect(page.getByRole('tab').nth(1)).toHaveAttribute('aria-selected', 'true')
  await lab.open(lessons.versions)
  await lab.prompt()
  await expect(page.getByRole('tab').nth(1)).toHaveAttribute('aria-selected', 'true')
  await page.getByRole('button', { name: /^Close / }).last().click()
  await expect(page.getByRole('tab').first()).toHaveAttribute('aria-selected', 'true')
})

test('a lost network is said honestly, and the terminal goes on where it stopped', async ({ page, apilab, lab }) => {
  const line = await new Line().open(apilab.url)
  try {
    await page.goto(line.url + lessons.first)
    await lab.clusterIs('ready')
    await lab.prompt()
    await lab.type(count(10, '0.3'))
    await lab.sees('tick 2.')
    line.cut()
    await expect(page.locator('.connection')).toContainText('Reconnecting')
    await expect(lab.cluster).toHaveAttribute('data-state', 'unknown')
    await page.keyboard.type('echo typed while away') // kept, and typed when the line is back
    await page.keyboard.press('Enter')
    line.mend()
    await lab.sees(/^typed while away$/m)
    await expect(page.locator('.connection')).toHaveCount(0)
    const screen = await lab.screen()
    expect(screen.match(/tick \d+\./g)).toEqual(ticks(10).split('\n'))
    expect(screen.match(/^typed while away$/gm)).toHaveLength(1)
  } finally {
    line.close()
  }
})

test('two terminals at once: one watches what the other does', async ({ lab, page }) => {
  await lab.ready(lessons.first)
  await lab.run('kubectl delete configmap seen --ignore-not-found -n default')
  await lab.type('kubectl get configmaps -n default -w -o name')
  await page.keyboard.press('Control+Shift+Backquote')
  await expect(page.getByRole('tab')).toHaveCount(3)
  await lab.prompt()
  await lab.run('kubectl create configmap seen -n default')
  await page.getByRole('tab').first().click()
  await lab.sees('configmap/seen')
  await page.keyboard.press('Control+C')
  await lab.prompt()
  await page.getByRole('button', { name: /^Close / }).last().click()
  await expect(page.getByRole('tab')).toHaveCount(2)
})

test('a command for the second terminal opens it, waits for its prompt, and is typed once', async ({ lab, page }) => {
  await lab.ready('/lessons/api-machinery/list-then-watch')
  while ((await page.getByRole('tab').count()) > 2) await page.getByRole('button', { name: /^Close / }).last().click()
  await page.getByRole('button', { name: 'Run in 2' }).first().click()
  await expect(page.getByRole('tab')).toHaveCount(3)
  await lab.sees(/created|AlreadyExists/)
  expect((await lab.screen()).match(/kubectl run w1/g)).toHaveLength(1)
  await lab.run('kubectl delete pod w1 -n api-lab --ignore-not-found --grace-period=0 --force')
  await page.getByRole('button', { name: /^Close / }).last().click()
  await expect(page.getByRole('tab')).toHaveCount(2)
})

test('a paste of 200 lines arrives whole', async ({ lab, page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await lab.ready(lessons.first)
  await page.evaluate(() => navigator.clipboard.writeText(['cat > pasted <<EOF', ...Array.from({ length: 200 }, (_, i) => `line ${i + 1} of 200`), 'EOF', ''].join('\n')))
  await page.getByRole('button', { name: 'Paste into the terminal' }).click()
  await lab.sees(/^> EOF$/m) // a paste is a text to look at first; Enter runs it
  await page.keyboard.press('Enter')
  await lab.prompt()
  await lab.type('clear; wc -l < pasted; tail -n 1 pasted')
  await lab.sees(/\b200\b[^]*line 200 of 200/)
})

test('a resize reaches the program', async ({ lab, page }) => {
  await lab.ready(lessons.first)
  const columns = async () => {
    await lab.type('clear; watch -n 60 true') // its title ends at the right edge
    await lab.sees(/^Every .*:\d\d$/m)
    const title = (await lab.screen()).split('\n')[0] ?? ''
    await page.keyboard.press('Control+C')
    await lab.prompt()
    return title.length
  }
  const wide = await columns()
  await page.setViewportSize({ width: 1100, height: 700 })
  await expect.poll(columns).toBeLessThan(wide - 10)
})
