import { html, render } from 'lit'

interface Question {
  title: string
  text: string
  /** What the button does: a verb. */
  action: string
  danger?: boolean
}

/** Asks before something that cannot be taken back; true when the learner goes on. */
export function confirm(question: Question): Promise<boolean> {
  const dialog = document.createElement('dialog')
  dialog.className = 'dialog'
  dialog.setAttribute('aria-labelledby', 'confirm-title')
  render(
    html`<form method="dialog">
      <h2 id="confirm-title">${question.title}</h2>
      <p>${question.text}</p>
      <div class="dialog-actions">
        <button class="button" value="no" autofocus>Keep as it is</button>
        <button class="button ${question.danger ? 'danger' : 'primary'}" value="yes">${question.action}</button>
      </div>
    </form>`,
    dialog,
  )
  document.body.append(dialog)
  dialog.showModal()
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove()
      resolve(dialog.returnValue === 'yes')
    })
  })
}
