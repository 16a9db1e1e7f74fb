import type { PlanTerms } from '../schemas/plans.js';
import type { AdmittedClient } from './upgrade.js';

/** An open connection with the key of its client. */
export interface KeyedConnection {
  readonly client: Pick<AdmittedClient, 'keyHash' | 'permit'>;
  readonly peer: {
    readonly closed: boolean;
    readonly terms: PlanTerms;
    setTerms(terms: PlanTerms): void;
    end(closing: 'keyRevoked'): void;
  };
  readonly connection: { checkAllowance(): void } | null;
}

/** Closes connections whose key no longer works, applies changes of plans to the others, and lets them check their allowance if usage is enforced. */
export function checkKeys(
  connections: Iterable<KeyedConnection>,
  deps: {
    /** Current terms of a key, null once it no longer works; undefined: keys always work. */
    readonly termsOfKey: ((keyHash: string) => PlanTerms | null) | undefined;
    readonly isUsageEnforced: boolean;
  },
): void {
  for (const { client, peer, connection } of connections) {
    if (peer.closed) continue;
    const terms = deps.termsOfKey?.(client.keyHash);
    if (terms === null) peer.end('keyRevoked');
    else if (terms !== undefined && terms !== peer.terms) {
      peer.setTerms(terms);
      client.permit.setTerms(terms);
    }
    if (deps.isUsageEnforced && !peer.closed) connection?.checkAllowance();
  }
}
