import type { BatchEvent } from "./batch.ts";
import { type Link, linkKey, orderLinks, sessionLinks } from "./links.ts";

/** What has to be loaded before a batch can be folded. */
export interface MissingKeys {
  /** Orders whose folds are not known. */
  readonly orders: Set<string>;
  /** Users whose folds are not known. */
  readonly users: Set<string>;
  /** Links whose sessions are not known. */
  readonly sessionsOf: Map<string, Link>;
  /** Links whose orders are not known, and the earliest session of each. */
  readonly ordersOf: Map<string, Link & { readonly since: string }>;
}

/**
 * Lists what a batch needs to know.
 *
 * @param events The batch.
 * @param anySession Whether any session has been folded, or can be in memory.
 */
export function missingKeys(
  events: readonly BatchEvent[],
  anySession: boolean,
): MissingKeys {
  const missing: MissingKeys = {
    orders: new Set(),
    users: new Set(),
    sessionsOf: new Map(),
    ordersOf: new Map(),
  };
  for (const { fact } of events) {
    if (fact.orderId !== null) missing.orders.add(fact.orderId);
    if (fact.userId !== null) missing.users.add(fact.userId);
    if (anySession) {
      for (const link of orderLinks(fact)) {
        if (link.kind !== "external") {
          missing.sessionsOf.set(linkKey(link), link);
        }
      }
    }
    if (fact.kind === "session_created") {
      for (const link of sessionLinks(fact)) {
        const key = linkKey(link);
        const other = missing.ordersOf.get(key);
        // Orders of a session id count whenever they began.
        const since = link.kind === "click" ? fact.recordedAt : "";
        if (other === undefined || since < other.since) {
          missing.ordersOf.set(key, { ...link, since });
        }
      }
    }
  }
  return missing;
}

/**
 * Whether anything has to be loaded.
 *
 * @param missing What a batch needs to know.
 */
export function isAnyMissing(missing: MissingKeys): boolean {
  return Object.values(missing).some(({ size }) => size > 0);
}
