import { renderMermaidSVG } from 'beautiful-mermaid'
import { wrapMessages } from './diagram-sequence.mjs'
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
  const { box, width, height } = frame(svg)
  return svg
    .replace(/<style>[\s\S]*?<\/style>\n?/, '')
    .replace(/<svg [^>]*>/, `<svg viewBox="${box}" width="${width}" height="${height}" style="--natural:${width}px" role="img" aria-label="${attribute(describe(source))}">`)
    .replace(/<g class="message"[\s\S]*?<\/g>/g, liftLabel)
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

/**
 * A decision is drawn as a hexagon: a diamond that holds a sentence would be as high as it is wide, and a chain of them
 * would fill the screen.
 */
function hexagons(source) {
  return /^\s*(flowchart|graph)\b/.test(source) ? source.replace(/(\w)\{([^{}]+)\}/g, '$1{{$2}}') : source
}

/** The first of these that fits the column, else the narrowest: as written, long labels in lines, top down. */
function fitting(written) {
  const source = hexagons(written)
  if (/^\s*sequenceDiagram/.test(source)) return render(wrapMessages(source, render(source)))
  const wrapped = wrapLabels(source)
  const lying = /^\s*(flowchart|graph)\s+(LR|RL)\b/.test(source)
  const variants = [source, wrapped, ...(lying ? [topDown(source), topDown(wrapped)] : []), wrapNodes(wrapped), ...(lying ? [topDown(wrapNodes(wrapped))] : [])]
  let narrowest
  for (const variant of new Set(variants)) {
    const svg = render(variant)
    if (frame(svg).width <= column) return svg
    if (!narrowest || frame(svg).width < frame(narrowest).width) narrowest = svg
  }
  return narrowest
}

function render(source) {
  return renderMermaidSVG(source, { padding: 4, transparent: true })
}

function topDown(source) {
  return source.replace(/^(\s*(?:flowchart|graph)\s+)(LR|RL)\b/, '$1TD')
}

/** Breaks the labels of a flowchart's edges at about 16 characters. */
function wrapLabels(source) {
  return source.replace(/\|("?)([^|"]+)\1\|/g, (_, quote, label) => `|${quote}${lines(label, 16).join('<br/>')}${quote}|`)
}

/** Breaks the names of a flowchart's nodes at about 20 characters, where that saves a good part of a line. */
function wrapNodes(source) {
  if (!/^\s*(flowchart|graph)\b/.test(source)) return source
  return source.replace(/(?<=\w)(\[|\(|\{\{)("?)([^[\](){}"|]{24,})\2(\]|\)|\}\})/g, (whole, open, quote, label, close) =>
    label.includes('<br') ? whole : `${open}${quote}${lines(label, 20).join('<br/>')}${quote}${close}`,
  )
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
  const [, from, to] = /data-from="([^"]*)" data-to="([^"]*)"/.exec(label) ?? []
  if (from === to) return label.replace(/<rect[^>]*\/>/, '') // it stands beside its loop, and would hide that
  const count = Math.max(1, (label.match(/<tspan/g) ?? []).length)
  return label.replace(/ y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"/, (_, y, width, height) => {
    const tight = Math.min(Number(height), 15 * count + 4)
    return ` y="${Number(y) + (Number(height) - tight) / 2}" width="${width}" height="${tight}"`
  })
}

/** A message's words in two lines end where one line would: above the arrow. */
function liftLabel(message) {
  const lines = (message.match(/<tspan/g) ?? []).length
  if (lines < 2 || message.includes('data-self="true"')) return message
  return message.replace(/<text x="([\d.]+)" y="([\d.]+)"/, (_, x, y) => `<text x="${x}" y="${y - 7 * (lines - 1)}"`)
}

/** What of the drawing is shown, and how large. A sequence comes with a wide margin of its own. */
function frame(svg) {
  const [, w, h] = /<svg[^>]* width="([\d.]+)" height="([\d.]+)"/.exec(svg)
  const margin = svg.includes('class="lifeline"') ? 26 : 0
  const [width, height] = [w - 2 * margin, h - 2 * margin]
  return { box: `${margin} ${margin} ${width} ${height}`, width: Math.round(width * scale), height: Math.round(height * scale) }
}
