import { html, svg, type SVGTemplateResult, type TemplateResult } from 'lit'

// Icons are strokes on a grid of 16. A button that shows one alone carries its label in words.

const paths = {
  arrow: svg`<path d="M3 8h10M9 4l4 4-4 4"/>`,
  check: svg`<path d="M3 8.5 6.5 12 13 4.5"/>`,
  chevron: svg`<path d="m4 6 4 4 4-4"/>`,
  close: svg`<path d="m4 4 8 8m0-8-8 8"/>`,
  copy: svg`<path d="M6 5.5V3.25A.75.75 0 0 1 6.75 2.5h6a.75.75 0 0 1 .75.75v6a.75.75 0 0 1-.75.75H10.5M3.25 5.5h6a.75.75 0 0 1 .75.75v6a.75.75 0 0 1-.75.75h-6a.75.75 0 0 1-.75-.75v-6a.75.75 0 0 1 .75-.75Z"/>`,
  dark: svg`<path d="M13.2 9.6A5.6 5.6 0 0 1 6.4 2.8a5.6 5.6 0 1 0 6.8 6.8Z"/>`,
  file: svg`<path d="M4 2.5h5l3 3v8H4zM9 2.5v3h3"/>`,
  folder: svg`<path d="M2 4h4.5L8 5.5h6V13H2z"/>`,
  hand: svg`<path d="M5 8.5V4.2a1 1 0 0 1 2 0V7m0-.2V2.9a1 1 0 0 1 2 0v4m0-.4V3.6a1 1 0 0 1 2 0v4.2m0-1.8a1 1 0 0 1 2 0v3.8A4.2 4.2 0 0 1 8.8 14H8.4a4 4 0 0 1-3.2-1.6L2.9 9.3a1 1 0 0 1 1.5-1.3L5 8.5"/>`,
  help: svg`<path d="M5.8 6.2a2.2 2.2 0 1 1 3.3 1.9c-.7.4-1.1.8-1.1 1.6M8 12.2v.1"/>`,
  light: svg`<circle cx="8" cy="8" r="2.8"/><path d="M8 1.5v1.4M8 13.1v1.4M1.5 8h1.4M13.1 8h1.4M3.4 3.4l1 1M11.6 11.6l1 1M3.4 12.6l1-1M11.6 4.4l1-1"/>`,
  more: svg`<path d="M3.5 8h.1M8 8h.1M12.5 8h.1" stroke-width="2.4"/>`,
  paste: svg`<path d="M5.5 3.5h-2v10h9v-10h-2M5.5 2.5h5v2h-5zM6 8h4M6 10.5h4"/>`,
  play: svg`<path d="M5 3.5v9l7-4.5z"/>`,
  plus: svg`<path d="M8 3v10M3 8h10"/>`,
  refresh: svg`<path d="M13 8a5 5 0 1 1-1.6-3.7M13 2.5v3h-3"/>`,
  search: svg`<circle cx="7" cy="7" r="4"/><path d="m10 10 3.5 3.5"/>`,
  speech: svg`<path d="M2.5 6.2v3.6h2.3L8.3 13V3L4.8 6.2zM10.6 6a3 3 0 0 1 0 4M12.4 4.2a5.4 5.4 0 0 1 0 7.6"/>`,
  system: svg`<circle cx="8" cy="8" r="5.2"/><path d="M8 2.8a5.2 5.2 0 0 1 0 10.4z" fill="currentColor" stroke="none"/>`,
  terminal: svg`<path d="M2 3h12v10H2zM4.5 6l2 2-2 2M8.5 10h3"/>`,
} satisfies Record<string, SVGTemplateResult>

export function icon(name: keyof typeof paths): TemplateResult {
  return html`<svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">${paths[name]}</svg>`
}
