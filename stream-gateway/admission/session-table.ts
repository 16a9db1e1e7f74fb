import type { ConnectionSession, GatewaySession } from '../../schemas/types.gen.js';
import { dayOf, disjoint, type Stretch, timeWithin } from './session-time.js';

export interface Session {
  readonly id: string;
  /** Who holds it. */
  readonly processId: string;
  readonly accountId: string;
  readonly cap: number | null;
  readonly timed: boolean;
  readonly openedMs: number;
  readonly seenMs: number;
  /** False: a claim met while reading in, whose outcome is not known here. It counts until it is withdrawn or held. */
  readonly certain: boolean;
}

export type Verdict = 'granted' | 'denied' | 'unknown';

/**
 * The state that gateway.sessions folds to: who is connected. The order of the partition decides, so all processes come to the same verdict on
 * every claim. A session ends with a record that says so, whoever wrote it; time alone ends nothing here.
 */
export interface SessionTable {
  /** Takes a record's event. The verdict of a claim; undefined for all else. */
  apply(event: GatewaySession): Verdict | undefined;
  /** The record of this session is a tombstone. */
  remove(sessionId: string): void;
  get(sessionId: string): Session | undefined;
  ofAccount(accountId: string): Iterable<Session>;
  ofProcess(processId: string): readonly Session[];
  /** When the account was connected, as far as sessions that are over tell. */
  past(accountId: string): readonly Stretch[];
  addPast(accountId: string, stretch: Stretch): void;
  /** From now on claims are decided; before, those that come while the past is read in are not. */
  loaded(): void;
  /** Forgets time before the UTC day of `nowMs`. */
  prune(nowMs: number): void;
  readonly size: number;
}

const MOST_STRETCHES = 256;

/** The older half as one stretch of the same length within the newest day: what comes later lies behind it. */
function condensed(stretches: readonly Stretch[]): Stretch[] {
  const older = disjoint(stretches);
  const newer = older.splice(older.length / 2);
  const today = dayOf(newer.at(-1)?.untilMs ?? 0);
  const fromMs = Math.max(today, older[0]?.fromMs ?? today);
  const length = timeWithin(today, older);
  return length === 0 ? newer : [{ fromMs, untilMs: fromMs + length }, ...newer];
}

export function createSessionTable(): SessionTable {
  const sessions = new Map<string, Session>();
  const byAccount = new Map<string, Map<string, Session>>();
  const pastByAccount = new Map<string, Stretch[]>();
  let loading = true;

  const put = (session: Session) => {
    sessions.set(session.id, session);
    const own = byAccount.get(session.accountId) ?? new Map<string, Session>();
    byAccount.set(session.accountId, own.set(session.id, session));
  };
  const remove = (sessionId: string) => {
    const session = sessions.get(sessionId);
    if (session === undefined) return;
    sessions.delete(sessionId);
    const own = byAccount.get(session.accountId);
    own?.delete(sessionId);
    if (own?.size === 0) byAccount.delete(session.accountId);
  };
  const addPast = (accountId: string, stretch: Stretch) => {
    if (stretch.untilMs <= stretch.fromMs) return;
    const known = pastByAccount.get(accountId);
    if (known === undefined) pastByAccount.set(accountId, [stretch]);
    else {
      known.push(stretch);
      if (known.length >= MOST_STRETCHES) pastByAccount.set(accountId, condensed(known));
    }
  };

  const judge = ({ account_id: accountId, cap }: ConnectionSession): Verdict => {
    if (loading) return 'unknown';
    if (cap === null) return 'granted';
    let certain = 0;
    let all = 0;
    for (const session of byAccount.get(accountId)?.values() ?? []) {
      all++;
      if (session.certain) certain++;
    }
    if (all < cap) return 'granted';
    return certain >= cap ? 'denied' : 'unknown';
  };

  return {
    apply({ process_id: processId, fact }) {
      if (!('oddstream.ConnectionSession' in fact)) return undefined;
      const told = fact['oddstream.ConnectionSession'];
      const id = told.session_id;
      const known = sessions.get(id);
      const verdict = told.stage === 'claim' && known === undefined ? judge(told) : undefined;
      if (told.stage === 'ended') {
        remove(id);
        addPast(told.account_id, { fromMs: told.opened_ms, untilMs: told.seen_ms });
      } else if (told.stage === 'hold' || (verdict !== undefined && verdict !== 'denied')) {
        put({
          id,
          processId: known?.processId ?? processId,
          accountId: told.account_id,
          cap: told.cap,
          timed: told.timed,
          openedMs: told.opened_ms,
          seenMs: told.seen_ms,
          certain: verdict !== 'unknown',
        });
      }
      return verdict;
    },
    remove,
    get: (sessionId) => sessions.get(sessionId),
    ofAccount: (accountId) => byAccount.get(accountId)?.values() ?? [],
    ofProcess: (processId) => [...sessions.values()].filter((session) => session.processId === processId),
    past: (accountId) => pastByAccount.get(accountId) ?? [],
    addPast,
    loaded() {
      loading = false;
    },
    prune(nowMs) {
      const today = dayOf(nowMs);
      for (const [accountId, stretches] of pastByAccount) {
        const kept = stretches.filter(({ untilMs }) => untilMs > today);
        if (kept.length === 0) pastByAccount.delete(accountId);
        else if (kept.length < stretches.length) pastByAccount.set(accountId, kept);
      }
    },
    get size() {
      return sessions.size;
    },
  };
}
