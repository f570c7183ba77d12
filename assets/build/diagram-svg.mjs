import { renderMermaidSVG } from 'beautiful-mermaid'

/** Drawn units to pixels: the layout is made for 11 and 13 units of a wider face than ours. */
const scale = 1.2

/**
 * Draws a mermaid source as SVG for a page: no style of its own (a style element would reach the whole page, and it names
 * a font host), colours and face from the page's custom properties, ids that no other diagram has.
 */
export function draw(source, name) {
  const svg = renderMermaidSVG(source, { padding: 4, transparent: true })
  const [, width, height] = /<svg[^>]* width="([\d.]+)" height="([\d.]+)"/.exec(svg)
  return svg
    .replace(/<style>[\s\S]*?<\/style>\n?/, '')
    .replace(/<svg [^>]*viewBox="([^"]*)"[^>]*>/, (_, box) => `<svg viewBox="${box}" width="${round(width * scale)}" height="${round(height * scale)}" style="--natural:${round(width * scale)}px" aria-hidden="true">`)
    .replace(/ id="([^"]+)"/g, ` id="d${name}-$1"`)
    .replace(/url\(#([^)]+)\)/g, `url(#d${name}-$1)`)
    .replace(/ data-[\w-]+="[^"]*"/g, '')
    .replace(/(\d+\.\d{2})\d+/g, '$1')
    .replace(/>\s+</g, '><')
}

function round(n) {
  return Math.round(Number(n))
}
