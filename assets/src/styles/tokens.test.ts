import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

// The contrast that tokens.css promises, computed: WCAG 2 relative luminance of OKLCH, https://bottosson.github.io/posts/oklab/.

const css = readFileSync(new URL('tokens.css', import.meta.url), 'utf8')
const tokens = new Map([...css.matchAll(/--([\w-]+): light-dark\(oklch\(([^)]*)\), oklch\(([^)]*)\)\);/g)].map(([, name, light, dark]) => [name ?? '', [light ?? '', dark ?? '']]))

function luminance(oklch: string): number {
  const [l = 0, c = 0, h = 0] = oklch.split(/\s+/).map(Number)
  const a = c * Math.cos((h * Math.PI) / 180)
  const b = c * Math.sin((h * Math.PI) / 180)
  const [x, y, z] = [l + 0.3963377774 * a + 0.2158037573 * b, l - 0.1055613458 * a - 0.0638541728 * b, l - 0.0894841775 * a - 1.291485548 * b].map((n) => n ** 3) as [number, number, number]
  const clip = (n: number) => Math.min(1, Math.max(0, n))
  const red = clip(4.0767416621 * x - 3.3077115913 * y + 0.2309699292 * z)
  const green = clip(-1.2684380046 * x + 2.6097574011 * y - 0.3413193965 * z)
  const blue = clip(-0.0041960863 * x - 0.7034186147 * y + 1.707614701 * z)
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast(one: string, other: string, scheme: number): number {
  const [a, b] = [one, other].map((name) => luminance(tokens.get(name)?.[scheme] ?? '')) as [number, number]
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
}

const surfaces = ['well', 'paper', 'sheet', 'raised']
const text = ['ink', 'ink-soft', 'ink-faint', 'accent', 'pass', 'wait', 'fail', ...[1, 2, 3, 4, 5, 6].map((n) => `manager-${n}`), 'code-key', 'code-string', 'code-number', 'code-name', 'code-comment']
const pairs: [string, string, number][] = [
  ...text.flatMap((ink) => surfaces.map((surface): [string, string, number] => [ink, surface, 4.5])),
  ...['ink', 'ink-soft', 'accent'].map((ink): [string, string, number] => [ink, 'accent-tint', 4.5]),
  ['ink', 'selection', 4.5],
  ['on-accent', 'accent-fill', 4.5],
  ['pass', 'pass-tint', 4.5],
  ['wait', 'wait-tint', 4.5],
  ['fail', 'fail-tint', 4.5],
  ...['red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white', 'ink'].map((colour): [string, string, number] => [`term-${colour}`, 'term-back', 4.5]),
  ...surfaces.map((surface): [string, string, number] => ['edge', surface, 3]),
]

describe.each(['light', 'dark'])('%s', (scheme) => {
  test.each(pairs)('%s on %s', (ink, surface, least) => {
    expect(tokens.has(ink) && tokens.has(surface)).toBe(true)
    expect(contrast(ink, surface, scheme === 'light' ? 0 : 1)).toBeGreaterThanOrEqual(least)
  })
})
