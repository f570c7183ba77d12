let region: HTMLElement | undefined

/** Says something to screen readers, politely. The same words twice are said twice. */
export function announce(text: string): void {
  if (!region) {
    region = document.createElement('div')
    region.className = 'visually-hidden'
    region.setAttribute('role', 'status')
    document.body.append(region)
  }
  const line = document.createElement('p')
  line.textContent = text
  region.append(line)
  while (region.childElementCount > 4) region.firstElementChild?.remove()
}
