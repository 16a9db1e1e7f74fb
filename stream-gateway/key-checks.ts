import type { PlanTerms } from '../schemas/plans.js';
import type { AdmittedClient } from './upgrade.js';

interface Socket {
  getUserData(): Pick<AdmittedClient, 'keyHash' | 'permit'> & {
    readonly connection: { checkAllowance(): void } | null;
  };
}

interface KeyedPeer {
  readonly closed: boolean;
  readonly terms: PlanTerms;
  setTerms(terms: PlanTerms): void;
  end(closing: 'keyRevoked'): void;
}

/** Closes connections whose key no longer works, applies changes of plans to the others, and lets them check their allowance if usage is enforced. */
export function checkKeys(
  sockets: ReadonlyMap<Socket, KeyedPeer>,
  deps: {
    /** Current terms of a key, null once it no longer works; undefined: keys always work. */
    readonly termsOfKey: ((keyHash: string) => PlanTerms | null) | undefined;
    readonly isUsageEnforced: boolean;
  },
): void {
  // A copy: the end of a connection removes it.
  for (const [socket, peer] of [...sockets]) {
    if (peer.closed) continue;
    const { keyHash, permit, connection } = socket.getUserData();
    const terms = deps.termsOfKey?.(keyHash);
    if (terms === null) peer.end('keyRevoked');
    else if (terms !== undefined && terms !== peer.terms) {
      peer.setTerms(terms);
      permit.setTerms(terms);
    }
    if (deps.isUsageEnforced && !peer.closed) connection?.checkAllowance();
  }
}
