import type { Entity } from "../entity.ts";

/** The first time an order or a user was in a status with a trust. */
export interface Transition {
  /**
   * Names the transition for ever, for handlers to remember what they did:
   * `order:<id>:confirmed.success`.
   */
  readonly key: string;
  /** Whether it is of an order or a user. */
  readonly entity: Entity;
  /** Order or user identifier. */
  readonly id: string;
  /** `claimed` or `confirmed`. */
  readonly trust: string;
  /** The status entered. */
  readonly status: string;
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
export type NewTransition = Omit<Transition, "key" | "seq">;

/**
 * Names a transition.
 *
 * @param transition Entity, id, trust and status.
 * @returns For example `order:01J…:confirmed.success`.
 */
export function transitionKey(
  { entity, id, trust, status }: Pick<
    Transition,
    "entity" | "id" | "trust" | "status"
  >,
): string {
  return `${entity}:${id}:${trust}.${status}`;
}
