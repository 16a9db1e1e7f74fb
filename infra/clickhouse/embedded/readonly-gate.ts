import type { Engine } from './engine.js';
import { parseEngineError, ServerException } from './errors.js';
import { setClause } from './sql-text.js';
import { readStatement, type Statement } from './statement.js';

/**
 * What a read-only identity may run: one statement that reads, in the words of the engine's own parser. `formatQuery` refuses
 * several statements and prints INTO OUTFILE where it can be seen, and the text it prints is the one that runs. The session's
 * `readonly = 1` guards the rest. Throws code 164 (or the parser's own error).
 */
export async function gateReadonly(engine: Engine, statement: Statement): Promise<Statement> {
  if (statement.kind !== 'select' && statement.kind !== 'show') {
    throw new ServerException(164, 'READONLY', 'Cannot execute query in readonly mode.');
  }
  const session = await engine.session();
  let canonical: string;
  try {
    await session.run(setClause({ param_statement: parameterText(statement.text) }));
    const result = await session.run('SELECT formatQuery({statement:String})', 'TabSeparatedRaw');
    canonical = Buffer.from(result.bytes).toString('latin1');
  } catch (error) {
    throw parseEngineError(error);
  } finally {
    session.close();
  }
  const checked = readStatement(canonical, true);
  if (checked === undefined || (checked.kind !== 'select' && checked.kind !== 'show')) {
    throw new ServerException(164, 'READONLY', 'Cannot execute query in readonly mode.');
  }
  const text = (latin1: string) => Buffer.from(latin1, 'latin1').toString('utf8');
  return { ...checked, text: text(checked.text), body: text(checked.body), tail: text(checked.tail) };
}

/** Values of parameters are read as one escaped TabSeparated field. */
function parameterText(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n').replaceAll('\r', '\\r');
}
