import type { Entity } from "../entity.ts";
import type { Trust } from "../orders/status.ts";

/**
 * A state machine that transitions are of: that of an order, or one of the
 * three of a user. `user` is the combined status, which earlier versions
 * logged; no new transition is of it.
 */
export type MachineName = "order" | "lkyc" | "fkyc" | "ban" | "user";

/** A status and its trust, as they were visible. */
export interface VisibleStatus {
  /** The status. */
  readonly status: string;
  /** `claimed` or `confirmed`. */
  readonly trust: Trust;
}

/**
 * An order, or a machine of a user, entered a status with a trust. Of an order,
 * and of all that is claimed, only the first entry is logged. A user's machines
 * may enter a confirmed status again: each time is logged.
 */
export interface Transition {
  /**
   * Permanent id of the transition, for handlers to remember what they did:
   * `order:<id>:confirmed.success`, `user:<id>:fkyc.confirmed.retry`, and from
   * the second entry on `user:<id>:fkyc.confirmed.retry#2`.
   */
  readonly key: string;
  /** Whether it is of an order or a user. */
  readonly entity: Entity;
  /** The machine that moved. */
  readonly machine: MachineName;
  /** Order or user identifier. */
  readonly id: string;
  /** `claimed` or `confirmed`. */
  readonly trust: string;
  /** The status entered. */
  readonly status: string;
  /** Which entry into this status with this trust it is, from 1. */
  readonly entry: number;
  /** What was visible before the event; null when nothing was. */
  readonly previous: VisibleStatus | null;
  /**
   * Other final statuses that readings folded earlier had shown: the service
   * takes them back.
   */
  readonly reverses: readonly string[];
  /** Position of the event that led there. */
  readonly position: number;
  /** When the ledger learnt that event, UTC ISO 8601 with milliseconds. */
  readonly recordedAt: string;
  /** Place in the log of transitions; ascending, gaps are legal. */
  readonly seq: number;
  /** False for what came from an import: history, not news. */
  readonly live: boolean;
}

/** A transition that has no place in the log yet. */
export type NewTransition = Omit<Transition, "key" | "entry" | "seq">;

/** What names a transition. */
export type TransitionName = Pick<
  Transition,
  "entity" | "machine" | "id" | "trust" | "status" | "entry"
>;

/**
 * Names a transition. Two transitions never have the same key.
 *
 * @param transition Entity, machine, id, trust, status and entry.
 * @returns For example `order:01J…:confirmed.success`.
 */
export function transitionKey(
  { entity, machine, id, trust, status, entry }: TransitionName,
): string {
  const path = machine === entity ? trust : `${machine}.${trust}`;
  // A status of the service may itself end in `#2`.
  const counted = entry > 1 || (machine !== entity && status.includes("#"));
  return `${entity}:${id}:${path}.${status}${counted ? `#${entry}` : ""}`;
}

/**
 * Reads a key. Ids and statuses may hold any text, so there may be several
 * ways to read it.
 *
 * @param key What {@linkcode transitionKey} made.
 * @returns Every way; none when it is no key.
 */
export function parseTransitionKey(key: string): TransitionName[] {
  const [, entity, rest = ""] = /^(order|user):(.*)$/s.exec(key) ?? [];
  if (entity !== "order" && entity !== "user") return [];
  const path = entity === "order"
    ? /:()(claimed|confirmed)\./g
    : /:(?:(lkyc|fkyc|ban)\.)?(claimed|confirmed)\./g;
  return [...rest.matchAll(path)].map((match) => {
    const machine = (match[1] || entity) as MachineName;
    const text = rest.slice(match.index + match[0].length);
    const [counted, status = text, entry = "1"] = machine === entity
      ? []
      : /^(.*)#(\d+)$/s.exec(text) ?? [];
    return {
      entity,
      machine,
      id: rest.slice(0, match.index),
      trust: match[2] ?? "",
      status: counted === undefined ? text : status,
      entry: Number(entry),
    };
  });
}
