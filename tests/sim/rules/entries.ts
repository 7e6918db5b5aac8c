import type { Transition } from "../../../ledger/mod.ts";
import {
  decideUserStatus,
  evolveUser,
  initialUserFold,
  type RecordedEvent,
  type UserFold,
} from "../../../ledger/testing/mod.ts";
import { readFact } from "../../../ledger/for_sync.ts";
import { check } from "../world/journal.ts";

/** What is known of a user so far. */
interface Known {
  readonly fold: UserFold;
  /** What each machine shows, as `trust status`. */
  readonly visible: ReadonlyMap<string, string>;
}

/**
 * Which confirmed states the machines of users have entered: by the events in
 * the order in which the ledger learnt them, and by the fold of today.
 */
export class Entries {
  readonly #users = new Map<string, Known>();
  /** The confirmed state that each machine entered last. */
  readonly #confirmed = new Map<string, string>();
  /** How often each state was entered. */
  readonly #counts = new Map<string, number>();
  /** Entries of which there is to be a transition. */
  readonly #due = new Set<string>();
  /** Users of whom the ledger may have folded what was left of an event. */
  readonly #erased = new Set<string>();

  /**
   * Takes the events that the checkpoint has passed since the last look.
   *
   * @param events The events, whole.
   * @param isErased Whether the body of an event is gone.
   */
  advance(
    events: readonly RecordedEvent[],
    isErased: (eventId: string) => boolean,
  ): void {
    for (const event of events) {
      const fact = readFact(event);
      const { userId, position } = fact;
      if (userId === null) continue;
      if (isErased(event.eventId)) this.#erased.add(userId);
      const known = this.#users.get(userId);
      const fold = evolveUser(known?.fold ?? initialUserFold(userId), fact);
      const visible = visibleOf(fold);
      this.#users.set(userId, { fold, visible });
      for (const [machine, shown] of visible) {
        if (known?.visible.get(machine) === shown) continue;
        const status = shown.slice("confirmed ".length);
        const of = `${userId} ${machine}`;
        if (!shown.startsWith("confirmed ")) continue;
        if (this.#confirmed.get(of) === status) continue;
        this.#confirmed.set(of, status);
        const entry = (this.#counts.get(`${of} ${status}`) ?? 0) + 1;
        this.#counts.set(`${of} ${status}`, entry);
        this.#due.add(`${of} ${status} ${entry} ${position}`);
      }
    }
  }

  /**
   * Compares what was logged with what is due.
   *
   * @param transitions Those since the last look.
   * @throws {Broken} When an entry is missing, or is none.
   */
  compare(transitions: readonly Transition[]): void {
    for (const one of transitions) {
      const { entity, id, machine, trust, status, entry, position } = one;
      if (entity !== "user" || trust !== "confirmed") continue;
      const key = `${id} ${machine} ${status} ${entry} ${position}`;
      check(
        "no entry of a user is fired without one, nor by a late older reading",
        this.#due.delete(key) || this.#erased.has(id),
        () => key,
      );
    }
    for (const key of this.#due) {
      const [id = ""] = key.split(" ");
      check(
        "every confirmed entry of a user fires once",
        this.#erased.has(id),
        () => `${key} was not logged`,
      );
    }
    this.#due.clear();
  }
}

/** What each machine of a user shows. */
function visibleOf(fold: UserFold): Map<string, string> {
  const { lkyc, fkyc, ban } = decideUserStatus(fold);
  const visible = new Map<string, string>();
  for (const [machine, one] of Object.entries({ lkyc, fkyc })) {
    if (one.state !== null) {
      visible.set(machine, `${one.trust} ${one.state}`);
    }
  }
  if (ban !== null) visible.set("ban", `confirmed ${ban}`);
  return visible;
}
