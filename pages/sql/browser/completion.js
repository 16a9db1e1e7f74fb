// Completion of views, columns, functions and keywords.

import { autocompletion, completeFromList, ifNotIn } from '@codemirror/autocomplete';
import { keywordCompletionSource, schemaCompletionSource } from '@codemirror/lang-sql';
import { clickHouse, FUNCTIONS } from './dialect.js';

/** Nodes of the syntax tree in which nothing is completed. */
const TEXTS = ['String', 'LineComment', 'BlockComment', 'QuotedIdentifier'];

const viewOption = ({ name, comment }) => ({ label: name, type: 'class', detail: 'view', info: comment });
const columnOption = ({ name, type, comment }) => ({ label: name, type: 'property', detail: type, info: comment });

/** Not after the dot of a qualified name. */
const functions = ifNotIn(['.'], completeFromList(FUNCTIONS.map((label) => ({ label, type: 'function' }))));
const keywords = keywordCompletionSource(clickHouse, true, (label, type) => ({ label, type, boost: -1 }));

/** Completes columns of the views that the statement names. */
const columnsOf = (views) => (context) => {
  const word = context.matchBefore(/\w+/);
  if (word === null && !context.explicit) return null;
  const from = word?.from ?? context.pos;
  // After a dot the columns of one view are completed by the schema's source.
  if (context.state.sliceDoc(from - 1, from) === '.') return null;
  const words = new Set(context.state.doc.toString().match(/\w+/g));
  const options = new Map();
  for (const view of views) {
    if (!words.has(view.name)) continue;
    for (const column of view.columns) if (!options.has(column.name)) options.set(column.name, columnOption(column));
  }
  return { from, options: [...options.values()].map((option) => ({ ...option, boost: 2 })), validFor: /^\w*$/ };
};

/** Extension of the editor for these views. */
export function completionOf(views) {
  const schema = Object.fromEntries(
    views.map((view) => [view.name, { self: viewOption(view), children: view.columns.map(columnOption) }]),
  );
  const sources = [schemaCompletionSource({ dialect: clickHouse, schema }), columnsOf(views), functions, keywords];
  return autocompletion({ override: sources.map((source) => ifNotIn(TEXTS, source)), icons: false });
}
