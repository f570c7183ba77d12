import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import { yaml } from '@codemirror/lang-yaml'
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, StreamLanguage, syntaxHighlighting } from '@codemirror/language'
import { shell } from '@codemirror/legacy-modes/mode/shell'
import { EditorState, type Extension } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'

interface Options {
  parent: HTMLElement
  text: string
  /** "yaml", "json", "sh" or anything else for plain text. */
  language: string
  label: string
  changed(): void
  save(): void
}

const highlight = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName), tags.keyword], color: 'var(--code-key)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--code-number)' },
  { tag: [tags.variableName, tags.standard(tags.variableName), tags.labelName], color: 'var(--code-name)' },
  { tag: tags.comment, color: 'var(--code-comment)', fontStyle: 'italic' },
])

const theme = EditorView.theme({
  '&': { color: 'var(--ink)', backgroundColor: 'var(--term-back)', fontSize: '14px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--accent)', padding: '8px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)', borderLeftWidth: '2px' },
  '.cm-gutters': { color: 'var(--ink-faint)', backgroundColor: 'var(--term-back)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--hover)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { background: 'var(--selection)' },
  '.cm-matchingBracket': { backgroundColor: 'var(--accent-tint)', outline: '1px solid var(--edge)' },
})

function languageOf(name: string): Extension {
  switch (name) {
    case 'yaml':
      return yaml()
    case 'json':
      return json()
    case 'sh':
      return StreamLanguage.define(shell)
    default:
      return []
  }
}

/** An editor that lets the keyboard out: Escape leaves the text, so that Tab can indent in it. */
export function editor(options: Options): EditorView {
  return new EditorView({
    parent: options.parent,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        indentOnInput(),
        indentUnit.of('  '),
        bracketMatching(),
        highlightActiveLine(),
        languageOf(options.language),
        syntaxHighlighting(highlight),
        theme,
        EditorView.contentAttributes.of({ 'aria-label': `${options.label}. Escape leaves the text.` }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) options.changed()
        }),
        keymap.of([
          {
            key: 'Mod-s',
            preventDefault: true,
            run: () => {
              options.save()
              return true
            },
          },
          {
            key: 'Escape',
            run: (view) => {
              view.contentDOM.blur()
              view.dom.closest('.editor')?.querySelector<HTMLElement>('.editor-head button')?.focus()
              return true
            },
          },
          indentWithTab,
          ...defaultKeymap,
          ...historyKeymap,
        ]),
      ],
    }),
  })
}
