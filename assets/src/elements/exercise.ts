import { html, nothing, render, type TemplateResult } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import { announce } from '../announce'
import { Opener, type Card } from '../exercise-opener'
import { icon } from '../icons'
import { session } from '../page-session'
import type { ExerciseState } from '../protocol/messages'
import { sentence } from '../text'
import { LightElement, Listening } from './base'
import type { ApilabCheck } from './check'
import { confirm } from './confirm'
import { nextStep } from './next-step'
import './solution'
import './wants'

const opener = new Opener(session)

/**
 * An exercise card. The server drew task and checks; this element opens the exercise when it is its turn, hands each check
 * its state, and draws progress, what is wrong, and the foot with reset and solution.
 */
@customElement('apilab-exercise')
export class ApilabExercise extends LightElement implements Card {
  @property() exercise = ''
  /** The kind of cluster that it is opened on; without one, any. */
  @property() backend = ''
  @property({ type: Boolean }) done = false
  @property({ type: Boolean, reflect: true }) passed = false
  @state() private solution = ''
  @state() private problem = ''
  onScreen = false
  asked = false
  private placed = false
  private told = new Map<string, string>()
  private observer?: IntersectionObserver

  constructor() {
    super()
    new Listening(this, session, ['exercises', 'cluster', 'connection'])
  }

  protected override createRenderRoot(): HTMLElement {
    return this.querySelector<HTMLElement>('[data-foot]') ?? this
  }

  override connectedCallback(): void {
    super.connectedCallback()
    this.addEventListener('answer', this.answer as EventListener)
    this.addEventListener('hint', this.hint as EventListener)
    this.observer = new IntersectionObserver((entries) => {
      this.onScreen = entries.at(-1)?.isIntersecting ?? false
      // The first report says where the page is: no turn is given before.
      if (!this.placed) opener.add(this)
      this.placed = true
      opener.advance()
    })
    this.observer.observe(this)
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.observer?.disconnect()
    if (this.placed) opener.remove(this)
    this.placed = false
  }

  override willUpdate(): void {
    const state = this.known
    this.passed = state?.passedAt !== undefined || this.done
    if (!session.ready) {
      this.asked = false // another cluster, another try
      this.problem = ''
    }
  }

  override updated(): void {
    const state = this.known
    const next = state?.checks.find((check) => check.state !== 'passing')?.id
    for (const check of this.checks) {
      check.status = state?.checks.find((c) => c.id === check.check)
      check.ready = this.live && state?.phase === 'open'
      check.classList.toggle('next', check.check === next && state?.phase === 'open')
    }
    this.draw('[data-progress]', this.progress(state))
    this.draw('[data-status]', this.condition(state))
    this.tell(state)
  }

  override render() {
    const state = this.known
    const usable = this.live && state && state.phase !== 'preparing' && state.phase !== 'closed'
    return html`${this.passed ? this.finished(state) : nothing}
      <button type="button" class="button quiet" ?disabled=${!usable} @click=${this.reset}>Reset exercise</button>
      <button type="button" class="button quiet" ?disabled=${!usable} @click=${this.reveal}>${this.solution ? 'Hide solution' : 'Show solution'}</button>
      ${this.solution ? html`<apilab-solution .text=${this.solution}></apilab-solution>` : nothing}`
  }

  /** What is done on the card reaches a cluster that it is for. */
  private get live(): boolean {
    return session.connected === 'open' && !this.elsewhere
  }

  /** It wants another kind of cluster; the sentence under its title says so. */
  private get elsewhere(): boolean {
    return this.backend !== '' && session.cluster !== undefined && session.cluster.backend !== this.backend
  }

  private get known(): ExerciseState | undefined {
    return session.exercise(this.exercise)
  }

  private get checks(): ApilabCheck[] {
    return [...this.querySelectorAll<ApilabCheck>('apilab-check')]
  }

  private draw(selector: string, content: TemplateResult | typeof nothing): void {
    const place = this.querySelector<HTMLElement>(selector)
    if (!place) return
    if (!place.hasAttribute('data-taken')) {
      place.setAttribute('data-taken', '')
      place.replaceChildren()
    }
    render(content, place)
  }

  private progress(state: ExerciseState | undefined): TemplateResult {
    const total = this.checks.length
    const count = state ? state.checks.filter((check) => check.state === 'passing').length : this.done ? total : 0
    if (this.passed && (!state || count === total)) return html`<span class="done">${icon('check')}done</span>`
    return html`<span class="meter" aria-hidden="true">${Array.from({ length: total }, (_, i) => html`<i class=${i < count ? 'on' : ''}></i>`)}</span><span class="count">${count} of ${total}</span>`
  }

  /** Why the checks do not move now, in words; nothing when they do. */
  private condition(state: ExerciseState | undefined): TemplateResult | typeof nothing {
    if (this.problem) return html`<p class="exercise-state error" role="alert">${this.problem}</p>`
    if (state?.phase === 'error') {
      return html`<div class="exercise-state error" role="alert"><p>This exercise could not be prepared. Nothing of yours is lost.</p><pre tabindex="0">${state.error}</pre><button type="button" class="button" @click=${this.retry}>Prepare again</button></div>`
    }
    if (this.elsewhere) return nothing
    if (session.connected === 'lost') return html`<p class="exercise-state">Not connected. The checks below are as they were.</p>`
    switch (session.cluster?.state) {
      case 'failed':
        return html`<p class="exercise-state error">Your cluster does not run, so nothing can be checked. The cluster menu above says why.</p>`
      case 'creating':
      case 'starting':
      case 'queued':
        return html`<p class="exercise-state">Your cluster is starting. The checks open when it is ready.</p>`
      case 'absent':
      case 'stopped':
      case 'deleting':
        return html`<p class="exercise-state">Your cluster does not run. The checks open when it is ready.</p>`
      case 'healing':
        return html`<p class="exercise-state">Your cluster is being restarted with its data. The checks go on in a moment.</p>`
      default:
        return state?.phase === 'preparing' ? html`<p class="exercise-state">Preparing the cluster for this exercise</p>` : nothing
    }
  }

  private finished(state: ExerciseState | undefined): TemplateResult {
    const still = !state || state.checks.every((check) => check.state === 'passing')
    const next = nextStep(this)
    return html`<div class="exercise-done">
      <span class="done">${icon('check')}${still ? 'All checks passed' : 'Passed before'}</span>
      ${next ? html`<a class="button ${still ? 'primary' : ''}" href=${next.href} @click=${next.follow}>${next.label}${icon('arrow')}</a>` : nothing}
    </div>`
  }

  /** A refusal is not asked again by itself: the reset button and a reload do. */
  get refused(): boolean {
    return this.problem !== '' || this.elsewhere
  }

  /** Opens the exercise, which also prepares the cluster. */
  open(): void {
    this.asked = true
    session
      .request('exercise.open', { exercise: this.exercise })
      .then((state) => session.keep(state))
      .catch((error: unknown) => {
        if (session.connected === 'open') this.problem = sentence(error)
      })
      .finally(() => {
        this.asked = false
        opener.advance()
      })
  }

  private answer = (event: CustomEvent<{ check: string; value: string }>): void => {
    void this.ask(session.request('exercise.answer', { exercise: this.exercise, ...event.detail }))
  }

  private hint = (event: CustomEvent<{ check: string }>): void => {
    void this.ask(session.request('exercise.hint', { exercise: this.exercise, ...event.detail }))
  }

  private retry = (): void => {
    void this.ask(session.request('exercise.reset', { exercise: this.exercise }))
  }

  private reset = async (): Promise<void> => {
    const go = await confirm({
      title: 'Reset this exercise?',
      text: 'What you made for it in the cluster is removed and its checks start again. Other exercises and your files stay as they are.',
      action: 'Reset exercise',
      danger: true,
    })
    if (!go) return
    this.done = false
    this.solution = ''
    await this.ask(session.request('exercise.reset', { exercise: this.exercise }))
  }

  private reveal = async (): Promise<void> => {
    if (this.solution) {
      this.solution = ''
      return
    }
    if (!this.passed && !this.known?.solution) {
      const go = await confirm({
        title: 'Show the solution?',
        text: 'The hints under each check tell you less, one step at a time. That you looked is remembered; you can still do the exercise.',
        action: 'Show solution',
      })
      if (!go) return
    }
    try {
      this.solution = (await session.request('exercise.solution', { exercise: this.exercise })).solution
    } catch (error) {
      this.problem = sentence(error)
    }
  }

  private async ask(request: Promise<ExerciseState>): Promise<void> {
    try {
      this.problem = ''
      session.keep(await request)
    } catch (error) {
      this.problem = sentence(error)
    }
  }

  /** Tells a screen reader what turned. */
  private tell(state: ExerciseState | undefined): void {
    if (!state) return
    const first = this.told.size === 0
    let turned = 0
    for (const check of state.checks) {
      const before = this.told.get(check.id)
      this.told.set(check.id, check.state)
      if (first || before === check.state) continue
      if (check.state === 'passing') {
        turned++
        announce(`Passed: ${check.says}`)
      } else if (before === 'passing') announce(`No longer true: ${check.says}`)
      else if (check.state === 'broken') announce(`The check itself failed: ${check.says}`)
    }
    if (turned && state.checks.every((check) => check.state === 'passing')) announce('All checks of this exercise passed')
  }
}
