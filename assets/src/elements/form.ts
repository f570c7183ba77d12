import { html, render, type TemplateResult } from 'lit'
import { sentence } from '../text'

interface Form {
  title: string
  /** The fields, each with a name. */
  fields: TemplateResult
  /** What the button does: a verb. */
  action: string
  /** Does it; what it throws is told, and the form stays. */
  submit(data: FormData): Promise<unknown>
}

/** Asks for more than yes or no, in a dialog. */
export function ask(form: Form): void {
  const dialog = document.createElement('dialog')
  dialog.className = 'dialog form'
  dialog.setAttribute('aria-labelledby', 'form-title')
  let problem = ''
  let busy = false
  const draw = () => render(
    html`<form @submit=${submit}>
      <h2 id="form-title">${form.title}</h2>
      ${form.fields}
      <p class="form-problem" role="alert">${problem}</p>
      <div class="dialog-actions">
        <button type="button" class="button" @click=${() => dialog.close()}>Cancel</button>
        <button class="button primary" ?disabled=${busy}>${form.action}</button>
      </div>
    </form>`,
    dialog,
  )
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    busy = true
    problem = ''
    draw()
    try {
      await form.submit(new FormData(event.target as HTMLFormElement))
      dialog.close()
    } catch (error) {
      problem = sentence(error)
    }
    busy = false
    draw()
  }
  draw()
  document.body.append(dialog)
  dialog.addEventListener('close', () => dialog.remove())
  dialog.showModal()
}
