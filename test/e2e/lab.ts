import { expect, type Locator, type Page } from '@playwright/test'

export const lessons = {
  first: '/lessons/api-machinery/one-server-many-clients',
  versions: '/lessons/api-machinery/every-object-has-a-version',
}

/** What a learner sees and does on a lesson's page, in their words. */
export class Lab {
  constructor(
    readonly page: Page,
    readonly url: string,
  ) {}

  async open(path: string): Promise<void> {
    await this.page.goto(this.url + path)
  }

  /** Opens a lesson and waits for cluster and prompt. */
  async ready(path: string): Promise<void> {
    await this.open(path)
    await this.clusterIs('ready')
    await this.prompt()
  }

  get cluster(): Locator {
    return this.page.locator('.cluster-chip')
  }

  async clusterIs(state: string, timeout = 60_000): Promise<void> {
    await expect(this.cluster).toHaveAttribute('data-state', state, { timeout })
  }

  /** The terminal in front. */
  get terminal(): Locator {
    return this.page.locator('.pane:not([hidden]) apilab-terminal')
  }

  /** What stands on the screen of the terminal in front, row by row. */
  async screen(): Promise<string> {
    const rows = await this.terminal.locator('.xterm-rows > div').allTextContents()
    return rows.map((row) => row.replaceAll('\u00a0', ' ').trimEnd()).join('\n').trim()
  }

  async sees(text: string | RegExp, timeout = 20_000): Promise<void> {
    await expect.poll(() => this.screen(), { timeout }).toMatch(typeof text === 'string' ? new RegExp(escape(text)) : text)
  }

  /** Waits for a prompt at the end of the screen. */
  async prompt(timeout = 20_000): Promise<void> {
    await this.sees(/\$\s*$/, timeout)
  }

  async type(command: string): Promise<void> {
    await this.terminal.locator('.xterm-screen').click()
    await this.page.keyboard.type(command)
    await this.page.keyboard.press('Enter')
  }

  /** Types a command and waits until its prompt is back. */
  async run(command: string): Promise<void> {
    await this.type(`${command}; echo done-$((40+2))`)
    await this.sees('done-42')
    await this.type('clear')
    await expect.poll(() => this.screen()).not.toContain('done-42')
  }

  exercise(id: string): Locator {
    return this.page.locator(`apilab-exercise[exercise="${id}"]`)
  }

  check(exercise: string, id: string): Locator {
    return this.exercise(exercise).locator(`apilab-check[check="${id}"]`)
  }
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
