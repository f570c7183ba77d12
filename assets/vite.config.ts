import { defineConfig } from 'vitest/config'

// Entry points are what templates name: one script per kind of page, the style sheet, and the favicon. Everything else is
// a chunk of these. The Go package reads manifest.json.
export default defineConfig({
  base: '/assets/',
  build: {
    manifest: 'manifest.json',
    assetsDir: '',
    assetsInlineLimit: 0,
    target: ['chrome123', 'firefox128', 'safari17.5'],
    license: { fileName: 'licenses.md' },
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: {
        classroom: 'src/classroom.ts',
        glossary: 'src/glossary.ts',
        home: 'src/home.ts',
        lesson: 'src/lesson.ts',
        plain: 'src/plain.ts',
        reference: 'src/reference.ts',
        style: 'src/styles/main.css',
        favicon: 'src/images/favicon.svg',
      },
    },
  },
  test: { testTimeout: 60_000 }, // a machine that is busy with clusters may take ten times what a quiet one does
})
