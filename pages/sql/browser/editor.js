// The editor: CodeMirror in a shadow root, where its style sheets are constructed ones, which the page's policy allows.

import { closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { Compartment, EditorState } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { completionOf } from './completion.js';
import { clickHouse } from './dialect.js';

const highlight = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.bool, tags.null], color: 'var(--sql-keyword)' },
  { tag: [tags.typeName, tags.standard(tags.name)], color: 'var(--sql-name)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--sql-string)' },
  { tag: tags.number, color: 'var(--sql-number)' },
  { tag: [tags.lineComment, tags.blockComment], color: 'var(--muted)', fontStyle: 'italic' },
]);

const theme = EditorView.theme({
  '&': { fontSize: '14px', color: 'var(--text)', backgroundColor: 'var(--bg)', minHeight: '150px', maxHeight: '46vh' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': {
    fontFamily: 'ui-monospace, SFMono-Regular, Menlo, monospace',
    lineHeight: '1.55',
    minHeight: '150px',
  },
  '.cm-content': { caretColor: 'var(--text)', padding: '8px 0' },
  '.cm-gutters': { backgroundColor: 'var(--panel)', color: 'var(--muted)', borderRight: '1px solid var(--line)' },
  '.cm-gutter': { minHeight: '150px' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '& .cm-selectionLayer .cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground':
    {
      backgroundColor: 'color-mix(in srgb, var(--accent) 28%, var(--bg))',
    },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'color-mix(in srgb, var(--accent) 22%, var(--bg))' },
  '.cm-tooltip': {
    backgroundColor: 'var(--panel)',
    color: 'var(--text)',
    border: '1px solid var(--line)',
    borderRadius: '6px',
  },
  '.cm-tooltip.cm-completionInfo': { padding: '6px 10px', fontSize: '13px', maxWidth: '360px' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--bg)' },
  '.cm-tooltip-autocomplete > ul > li': { padding: '2px 8px' },
  '.cm-completionDetail': { color: 'inherit', fontStyle: 'normal', opacity: '0.85' },
});

/** Creates the editor in `host`. `onRun()`: Ctrl-Enter or Cmd-Enter. `onChange(text)`: after each change. */
export function createEditor({ host, text, onRun, onChange }) {
  const root = host.attachShadow({ mode: 'open' });
  const completion = new Compartment();
  const runKey = {
    key: 'Mod-Enter',
    run: () => {
      onRun();
      return true;
    },
  };
  const view = new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        bracketMatching(),
        closeBrackets(),
        clickHouse.language,
        completion.of(completionOf([])),
        syntaxHighlighting(highlight),
        theme,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': 'SQL statement', spellcheck: 'false' }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.doc.toString());
        }),
        keymap.of([runKey, ...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...defaultKeymap]),
      ],
    }),
  });
  const replace = (from, to, insert) => {
    view.dispatch({ changes: { from, to, insert }, selection: { anchor: from + insert.length }, userEvent: 'input' });
  };

  return {
    text: () => view.state.doc.toString(),
    /** Replaces the text; undo brings the former one back. */
    setText: (sql) => replace(0, view.state.doc.length, sql),
    /** Puts a name in the place of the selection. */
    insert(name) {
      const { from, to } = view.state.selection.main;
      replace(from, to, name);
      view.focus();
    },
    /** Moves the cursor to a position of an error text, both from 1. */
    goTo(line, column) {
      const { from, to } = view.state.doc.line(Math.min(Math.max(1, line), view.state.doc.lines));
      view.dispatch({ selection: { anchor: Math.min(to, from + Math.max(0, column - 1)) }, scrollIntoView: true });
      view.focus();
    },
    setSchema: (views) => view.dispatch({ effects: completion.reconfigure(completionOf(views)) }),
    focus: () => view.focus(),
  };
}
