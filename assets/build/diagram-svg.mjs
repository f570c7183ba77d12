import { renderMermaidSVG } from 'beautiful-mermaid'
import { describe } from './diagram-text.mjs'

/** Drawn units to pixels: the layout is made for 11 and 13 units of a wider face than ours. */
const scale = 1.2

/** The text column is 584 pixels wide; what is wider would be shrunk or scrolled. */
const column = 584

/**
 * Draws a mermaid source as SVG for a page: no style of its own (a style element would reach the whole page, and it names
 * a font host), colours and face from the page's custom properties, ids that no other diagram has.
 */
export function draw(source, name) {
  const svg = fitting(source)
  const { width, height } = size(svg)
  return svg
    .replace(/<style>[\s\S]*?<\/style>\n?/, '')
    .replace(/<svg [^>]*viewBox="([^"]*)"[^>]*>/, (_, box) => `<svg viewBox="${box}" width="${width}" height="${height}" style="--natural:${width}px" role="img" aria-label="${attribute(describe(source))}">`)
    .replace(/<g class="edge-label"[^>]*>[\s\S]*?<\/g>/g, tightLabel)
    .replace(/ id="([^"]+)"/g, ` id="d${name}-$1"`)
    .replace(/url\(#([^)]+)\)/g, `url(#d${name}-$1)`)
    .replace(/ data-[\w-]+="[^"]*"/g, '')
    .replace(/(\d+\.\d{2})\d+/g, '$1')
    .replace(/>\s+</g, '><')
    .replace(/^/, '<div class="diagram-scroll" tabindex="0" role="group" aria-label="Diagram">')
    .replace(/\s*$/, '</div>')
}

function attribute(text) {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}

/** The first of these that fits the column, else the narrowest: as written, long labels in lines, top down. */
function fitting(source) {
  const wrapped = wrapLabels(source)
  const variants = [source, wrapped, ...(/^\s*(flowchart|graph)\s+(LR|RL)\b/.test(source) ? [topDown(source), topDown(wrapped)] : [])]
  const drawn = variants.map((variant) => renderMermaidSVG(variant, { padding: 4, transparent: true }))
  return drawn.find((svg) => size(svg).width <= column) ?? drawn.reduce((a, b) => (size(b).width < size(a).width ? b : a))
}

function topDown(source) {
  return source.replace(/^(\s*(?:flowchart|graph)\s+)(LR|RL)\b/, '$1TD')
}

/** Breaks the labels of a flowchart's edges at about 16 characters. */
function wrapLabels(source) {
  return source.replace(/\|("?)([^|"]+)\1\|/g, (_, quote, label) => `|${quote}${lines(label, 16).join('<br/>')}${quote}|`)
}

function lines(text, width) {
  const out = ['']
  for (const word of text.trim().split(/\s+/)) {
    const line = out.at(-1)
    if (line && line.length + word.length >= width) out.push(word)
    else out[out.length - 1] = line ? `${line} ${word}` : word
  }
  return out
}

/** A label's ground covers the line behind the words and no more of it. */
function tightLabel(label) {
  const count = Math.max(1, (label.match(/<tspan/g) ?? []).length)
  return label.replace(/ y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"/, (_, y, width, height) => {
    const tight = Math.min(Number(height), 15 * count + 4)
    return ` y="${Number(y) + (Number(height) - tight) / 2}" width="${width}" height="${tight}"`
  })
}

function size(svg) {
  const [, width, height] = /<svg[^>]* width="([\d.]+)" height="([\d.]+)"/.exec(svg)
  return { width: Math.round(width * scale), height: Math.round(height * scale) }
}
