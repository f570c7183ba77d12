import { defineConfig } from '@playwright/test'

// A person's way through the pages of the real binary, in the Chromium of the machine. APILAB_BIN names the binary;
// CHROMIUM another browser than /usr/bin/chromium.
export default defineConfig({
  testDir: '.',
  outputDir: '../../test-results',
  workers: 1, // each worker has a server and a cluster of its own
  forbidOnly: !!process.env['CI'],
  reporter: [['list']],
  timeout: 90_000,
  expect: { timeout: 15_000 },
  use: {
    viewport: { width: 1440, height: 900 },
    launchOptions: {
      executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
      args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'],
    },
    trace: 'retain-on-failure',
  },
})
