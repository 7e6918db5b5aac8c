import type { Transition } from "../machines/transition.ts";
import type { Driver } from "../store/driver/driver.ts";
import { retryLostRaces } from "../store/driver/retrying_driver.ts";
import {
  historicOf,
  type HistoricTransition,
  moveHistoric,
  selectHistoric,
  selectHistoricPlace,
} from "../store/tables/subscriptions/historic_transitions.ts";
import { settleQueue } from "../store/tables/subscriptions/queued_transitions.ts";
import { matcher } from "./pattern.ts";

/** Transitions of one read and one write. */
const PAGE = 1000;

/**
 * What a subscription did not receive, because it is from before going live.
 */
export interface FiredHistory {
  /** Transitions that it subscribes to. */
  readonly transitions: number;
  /**
   * Releases that it subscribes to and that are left out: they may have been
   * acted on before. Send one that was not by its key.
   */
  readonly released: number;
}

/** How {@linkcode fireHistoric} works. */
export interface FireHistoryOptions {
  /** Only counts. @default false */
  readonly dryRun?: boolean;
  /** Stops between two writes; the next call goes on from there. */
  readonly signal?: AbortSignal;
}

/**
 * Sends a subscription what had happened before the ledger went live, in order
 * and each once, also where it is called again or stopped in between. Never of
 * a release: the goods may have been handed over before.
 *
 * @param driver The database.
 * @param name The subscription; nothing is sent where it does not exist.
 * @param options How, and the time in milliseconds since the epoch.
 * @returns How many transitions it receives, or would receive.
 * @throws {LedgerError} When the database fails.
 */
export async function fireHistoric(
  driver: Driver,
  name: string,
  { dryRun = false, signal, now }: FireHistoryOptions & {
    readonly now: number;
  },
): Promise<FiredHistory> {
  let [transitions, released] = [0, 0];
  for (let after: number | null = null;;) {
    signal?.throwIfAborted();
    const page = await retryLostRaces(() =>
      firePage(driver, name, { after, dryRun, now })
    );
    if (page === null) return { transitions, released };
    transitions += page.transitions;
    released += page.released;
    // What was written is where the next page begins, whoever wrote it.
    after = dryRun ? page.to : null;
  }
}

/** One page; null when there is none. */
async function firePage(
  driver: Driver,
  name: string,
  { after, dryRun, now }: {
    readonly after: number | null;
    readonly dryRun: boolean;
    readonly now: number;
  },
): Promise<FiredHistory & { readonly to: number } | null> {
  const [found] = await driver.batch([selectHistoricPlace(name)], "write");
  const [patterns, place] = found?.rows[0] ?? [];
  if (typeof patterns !== "string") return null;
  const from = after ?? Number(place);
  const [rows] = await driver.batch([selectHistoric(from, PAGE)], "write");
  const historic = historicOf(rows);
  const to = historic.at(-1)?.transition.seq;
  if (to === undefined) return null;
  const texts = JSON.parse(patterns) as readonly string[];
  const matches = matcher(texts.map((unlisted) => ({ unlisted })));
  const taken = historic.filter(({ transition }) => matches(transition));
  const sent = taken.filter(({ transition }) => !isRelease(transition));
  if (!dryRun) {
    await driver.batch([
      ...moveHistoric(name, from, to),
      ...settleQueue(name, {
        queued: sent.map((one) => queuedAs(one, now)),
        failed: [],
        delivered: [],
        passing: [],
        released: [],
      }),
    ], "write");
  }
  const released = taken.length - sent.length;
  return { transitions: sent.length, released, to };
}

/** Whether goods are shipped on it. */
function isRelease({ logged }: Transition): boolean {
  return logged?.release === "yes";
}

/** The first of an order or user is due at once; the others follow it. */
function queuedAs({ transition, overtaken }: HistoricTransition, now: number) {
  return {
    transition,
    state: overtaken ? "retrying" : "waiting",
    attempts: 0,
    dueAt: new Date(now).toISOString(),
    error: null,
    overtaken,
  } as const;
}
