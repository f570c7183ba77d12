import { defineConfig } from '@playwright/test'
import run from '../playwright.config'

// Makes the pictures in docs/ from a real run: `npm run screenshots` in assets. No part of the tests.
export default defineConfig({
  ...run,
  testDir: '.',
  outputDir: '../../../test-results',
  testMatch: '*.shots.ts',
  timeout: 180_000,
  use: { ...run.use, viewport: { width: 1440, height: 940 }, contextOptions: { reducedMotion: 'reduce' }, trace: 'off' },
})
