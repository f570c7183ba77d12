import { customElement } from 'lit/decorators.js'
import { defaultSplit, rememberSplit, setSplit, split } from '../preferences'

const least = 25
const most = 75

/** The line between text and workbench: dragged, or moved with the arrow keys; its place is remembered. */
@customElement('apilab-divider')
export class ApilabDivider extends HTMLElement {
  connectedCallback(): void {
    this.tabIndex = 0
    this.role = 'separator'
    this.ariaLabel = 'Width of the text'
    this.ariaOrientation = 'vertical'
    this.ariaValueMin = String(least)
    this.ariaValueMax = String(most)
    this.title = 'Drag to resize; double-click for the usual place'
    this.show(split())
    this.addEventListener('pointerdown', this.grab)
    this.addEventListener('keydown', this.key)
    this.addEventListener('dblclick', () => this.move(defaultSplit))
  }

  private show(percent: number): void {
    this.ariaValueNow = String(Math.round(percent))
    this.ariaValueText = `${Math.round(percent)} percent`
  }

  private move(percent: number, remember = true): void {
    const to = Math.min(most, Math.max(least, percent))
    setSplit(to)
    this.show(to)
    if (remember) rememberSplit(to)
  }

  private grab = (event: PointerEvent): void => {
    if (event.button !== 0) return
    this.setPointerCapture(event.pointerId)
    this.classList.add('dragging')
    const drag = (e: PointerEvent) => this.move(((e.clientX - 4) / document.documentElement.clientWidth) * 100, false)
    const drop = () => {
      this.removeEventListener('pointermove', drag)
      this.classList.remove('dragging')
      rememberSplit(split())
    }
    this.addEventListener('pointermove', drag)
    this.addEventListener('lostpointercapture', drop, { once: true })
  }

  private key = (event: KeyboardEvent): void => {
    const to = { ArrowLeft: split() - 2, ArrowRight: split() + 2, Home: least, End: most, Enter: defaultSplit }[event.key]
    if (to === undefined) return
    event.preventDefault()
    this.move(to)
  }
}
