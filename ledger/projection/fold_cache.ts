import type { OrderFold } from "../fold/order_fold.ts";
import type { UserFold } from "../fold/user_fold.ts";
import { type Checkpoint, sameCheckpoint } from "./checkpoint.ts";
import type { Changes } from "./fold_window.ts";

/** Folds kept at most, of orders and of users. */
const kept = 5_000;

/**
 * Folds that the steps before have written, so that a long run need not read
 * them again. They hold for one checkpoint: once another process moves it,
 * everything is forgotten.
 */
export class FoldCache {
  #at: Checkpoint | null = null;
  #orders = new Map<string, OrderFold>();
  #users = new Map<string, UserFold>();
  #sessionsWritten = false;

  /** The checkpoint that what is kept belongs to. */
  get at(): Checkpoint | null {
    return this.#at;
  }

  /** Whether a step has written sessions that a read ahead could not see. */
  get sessionsWritten(): boolean {
    return this.#sessionsWritten;
  }

  /**
   * Moves what is kept from `wanted` to `known`.
   *
   * @param at The checkpoint that was read.
   * @param wanted Ids; those that are kept are taken out.
   * @param known Where folds are put.
   */
  take(
    at: Checkpoint,
    wanted: { readonly orders: Set<string>; readonly users: Set<string> },
    known: {
      readonly orders: Map<string, OrderFold>;
      readonly users: Map<string, UserFold>;
    },
  ): void {
    if (!sameCheckpoint(this.#at, at)) this.clear();
    takeFrom(this.#orders, wanted.orders, known.orders);
    takeFrom(this.#users, wanted.users, known.users);
  }

  /**
   * Keeps what a step has written.
   *
   * @param at The checkpoint that the step moved to.
   * @param changes What it wrote.
   */
  keep(at: Checkpoint, changes: Changes): void {
    this.#at = at;
    this.#sessionsWritten ||= changes.sessionLinks.length > 0;
    keepIn(this.#orders, changes.orders);
    keepIn(this.#users, changes.users);
  }

  /** Forgets everything. */
  clear(): void {
    this.#at = null;
    this.#sessionsWritten = false;
    this.#orders.clear();
    this.#users.clear();
  }
}

function takeFrom<Fold>(
  cache: Map<string, Fold>,
  wanted: Set<string>,
  known: Map<string, Fold>,
): void {
  if (cache.size === 0) return;
  for (const id of wanted) {
    const fold = cache.get(id);
    if (fold === undefined) continue;
    known.set(id, fold);
    wanted.delete(id);
  }
}

/** Maps keep the order of insertion: the longest unwritten goes first. */
function keepIn<Fold>(
  cache: Map<string, Fold>,
  written: ReadonlyMap<string, Fold>,
): void {
  for (const [id, fold] of written) {
    cache.delete(id);
    cache.set(id, fold);
  }
  for (const id of cache.keys()) {
    if (cache.size <= kept) break;
    cache.delete(id);
  }
}
