import type { ITheme } from '@xterm/xterm'

const sixteen = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const

/** The terminal's colours from the tokens, as they are in the scheme of this moment. */
export function terminalTheme(): ITheme {
  const probe = document.createElement('i')
  document.body.append(probe)
  const token = (name: string): string => {
    probe.style.color = `var(--${name})`
    return hex(getComputedStyle(probe).color)
  }
  const theme: Record<string, string> = {
    background: token('term-back'),
    foreground: token('term-ink'),
    cursor: token('accent'),
    cursorAccent: token('term-back'),
    selectionBackground: token('selection'),
    selectionInactiveBackground: token('selection'),
    scrollbarSliderBackground: `${token('edge')}66`,
    scrollbarSliderHoverBackground: `${token('edge')}aa`,
    scrollbarSliderActiveBackground: token('edge'),
  }
  for (const colour of sixteen) {
    theme[colour] = token(`term-${colour}`)
    theme[`bright${colour[0]?.toUpperCase()}${colour.slice(1)}`] = token(`term-${colour}`)
  }
  theme.brightBlack = token('ink-faint')
  theme.brightWhite = token('term-bright')
  probe.remove()
  return theme
}

let canvas: CanvasRenderingContext2D | null

/** xterm.js reads no OKLCH, so a canvas turns whatever the browser computed into sRGB. */
function hex(colour: string): string {
  canvas ??= Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', { willReadFrequently: true })
  if (!canvas) return '#808080'
  canvas.fillStyle = colour
  canvas.fillRect(0, 0, 1, 1)
  return `#${Array.from(canvas.getImageData(0, 0, 1, 1).data.slice(0, 3), (n) => n.toString(16).padStart(2, '0')).join('')}`
}
