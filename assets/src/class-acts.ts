import { html } from 'lit'
import { room } from './class-page'
import { confirm } from './elements/confirm'
import { ask } from './elements/form'
import { session } from './page-session'
import type { Row } from './protocol/class-messages'
import { sentence } from './text'

// What an instructor does about a class. What is refused becomes a notice, or stays in the form.

function told(what: string): void {
  session.notify('info', what)
}

async function attempt(what: string, request: Promise<unknown>): Promise<void> {
  try {
    await request
  } catch (error) {
    session.notify('error', `${what}. ${sentence(error)}`)
  }
}

/** Writes to one learner, or to all. */
export function write(row?: Row): void {
  ask({
    title: row ? `Message to ${row.name}` : `Message to all ${room.grid.rows.length} learners`,
    fields: html`<label for="message-text">It stays on ${row ? 'their pages' : 'each learner’s pages, also of those who join later,'} until it is dismissed.</label>
      <textarea id="message-text" name="text" rows="4" maxlength="2000" required autofocus></textarea>`,
    action: 'Send',
    submit: async (data) => {
      await room.request('class.message', { learner: row?.learner ?? '', text: text(data, 'text') })
      told(row ? `Sent to ${row.name}.` : 'Sent to all.')
    },
  })
}

export function lowerHand(row: Row): Promise<void> {
  return attempt('The hand was not lowered', room.request('class.hand', { learner: row.learner }))
}

export async function resetCluster(row: Row): Promise<void> {
  const go = await confirm({
    title: `Reset the cluster of ${row.name}?`,
    text: 'Everything in it is deleted and a new one is made. Their files and their progress stay. They are told that it was you.',
    action: 'Reset cluster',
    danger: true,
  })
  if (go) await reset(`The cluster of ${row.name}`, room.request('class.reset.cluster', { learner: row.learner }))
}

export async function resetExercise(row: Row, exercise: string, title: string): Promise<void> {
  const go = await confirm({
    title: `Reset “${title}” for ${row.name}?`,
    text: 'What they did in this exercise is undone, in their cluster and in their progress. They are told that it was you.',
    action: 'Reset exercise',
    danger: true,
  })
  if (go) await reset(`“${title}” of ${row.name}`, room.request('class.reset.exercise', { learner: row.learner, exercise }))
}

async function reset(what: string, request: Promise<{ by?: string }>): Promise<void> {
  try {
    const { by } = await request
    told(by ? `${what} was being reset by ${by} already. It was done once, for both of you.` : `${what} is reset.`)
  } catch (error) {
    session.notify('error', `${what} was not reset. ${sentence(error)}`)
  }
}

/** Closes and opens lessons. */
export function pace(): void {
  const { lessons } = room.grid
  ask({
    title: 'Which lessons are open',
    fields: html`<p>A closed lesson says so on its page. What learners have done in it is kept.</p>
      <fieldset class="pace"><legend class="visually-hidden">Open lessons</legend>${lessons.map(
        (lesson) => html`<label class="option"><input type="checkbox" name="open" value=${lesson.id} ?checked=${!lesson.closed}><span>${lesson.title} <small>${lesson.track}</small></span></label>`,
      )}</fieldset>`,
    action: 'Save',
    submit: async (data) => {
      const open = new Set(data.getAll('open'))
      for (const lesson of lessons) {
        const closed = !open.has(lesson.id)
        if (closed !== lesson.closed) await room.request('class.lesson', { lesson: lesson.id, closed })
      }
    },
  })
}

/** Moves the end of the class. */
export function extend(): void {
  const { ends } = room.grid.class
  ask({
    title: 'When the class ends',
    fields: html`<p>${ends ? `It ends on ${moment(ends)}.` : 'It has no end.'} After the end nobody can go on in it, and everything is kept.</p>
      <label for="class-ends">New end, in your time; empty: none</label>
      <input id="class-ends" type="datetime-local" name="ends" .value=${ends ? local(new Date(ends)) : ''} autofocus>`,
    action: 'Save',
    submit: async (data) => {
      const value = text(data, 'ends')
      await room.request('class.extend', value ? { ends: new Date(value).toISOString() } : {})
      told(value ? `The class ends on ${moment(new Date(value).toISOString())}.` : 'The class has no end now.')
    },
  })
}

/** Makes clusters before the learners come, or gives up those that are not ready yet. */
export async function warmUp(): Promise<void> {
  const { wanted, ready, underWay, reason } = room.warmUp
  if (underWay) {
    const stop = await confirm({ title: 'Stop warming up?', text: `${ready} of ${wanted} clusters are ready, and stay.`, action: 'Stop' })
    if (stop) await attempt('The warm-up goes on', room.request('class.warm', { learners: 0 }))
    return
  }
  ask({
    title: 'Warm up now',
    fields: html`<p>Clusters are made now, so that learners who come have one at once. ${reason ? `The last time ended with ${ready} of ${wanted}: ${reason}.` : ''}</p>
      <label for="class-warm">For so many learners</label>
      <input id="class-warm" type="number" name="learners" min="1" max="1000" required autofocus .value=${String(wanted || room.grid.rows.length || 20)}>`,
    action: 'Warm up',
    submit: (data) => room.request('class.warm', { learners: Number(text(data, 'learners')) }),
  })
}

/** Brings a prepared state into all clusters. */
export function handOut(): void {
  const exercises = document.querySelector('#handouts')?.cloneNode(true) as HTMLDataListElement | undefined
  const options = [...(exercises?.options ?? [])].map((o) => ({ id: o.value, title: o.label }))
  ask({
    title: 'Hand a state to everyone',
    fields: html`<p>The platform runs it in each learner’s cluster, and you see what becomes of it with each. It takes nothing away.</p>
      <label for="handout-exercise">The beginning of an exercise</label>
      <select id="handout-exercise" name="exercise" autofocus><option value="">None: a script of your own</option>${options.map((o) => html`<option value=${o.id}>${o.title}</option>`)}</select>
      <label for="handout-title">Or a script: its name, which learners are told</label>
      <input id="handout-title" name="title" type="text" maxlength="80" autocomplete="off">
      <label for="handout-script">The script, as for a shell with kubectl</label>
      <textarea id="handout-script" name="script" class="mono" rows="6" spellcheck="false" placeholder="kubectl create namespace broken&#10;kubectl create deployment web --image=nginx:nope -n broken"></textarea>`,
    action: 'Hand out',
    submit: (data) => room.request('class.handout', { exercise: text(data, 'exercise'), script: text(data, 'script'), title: text(data, 'title') }),
  })
}

function text(data: FormData, name: string): string {
  const value = data.get(name)
  return typeof value === 'string' ? value : ''
}

export function moment(time: string): string {
  return new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })
}

/** As an input for a local date and time has it. */
function local(time: Date): string {
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
