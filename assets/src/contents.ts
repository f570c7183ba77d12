/** The contents menu in the bar is plain details; it closes like a menu does. */
export function closeOnLeave(): void {
  const menu = document.querySelector<HTMLDetailsElement>('.contents')
  if (!menu) return
  document.addEventListener('pointerdown', (event) => {
    if (!menu.contains(event.target as Node)) menu.open = false
  })
  menu.addEventListener('focusout', (event) => {
    if (event.relatedTarget instanceof Node && !menu.contains(event.relatedTarget)) menu.open = false
  })
  menu.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !menu.open) return
    menu.open = false
    menu.querySelector('summary')?.focus()
  })
}
