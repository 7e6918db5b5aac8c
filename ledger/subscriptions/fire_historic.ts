/** Sends a subscription what had happened before the ledger went live. */
import { type Driver, readPrimary } from "../store/driver/driver.ts";
import { expectRow } from "../store/database.ts";
import { retryLostRaces } from "../store/driver/retrying_driver.ts";
import { matcher, unlisted } from "../machines/pattern.ts";
import {
  HISTORIC,
  LIVE,
  transitionOf,
  TRANSITIONS,
} from "../projection/log.ts";
import { insertPast } from "./outbox.ts";

/** Transitions of one read and one write. */
const PAGE = 1000;

/** What a subscription did not receive, because it is from before going live. */
export interface FiredHistory {
  /** Transitions that it subscribes to. */
  readonly transitions: number;
  /**
   * Releases that it subscribes to and that are left out: they may have been acted
   * on before. Send one that was not by its key.
   */
  readonly released: number;
}

/** Which history is sent. */
export interface FireHistoryOptions {
  /** Only counts. @default false */
  readonly dryRun?: boolean;
  /** Stops between two writes; the next call goes on from there. */
  readonly signal?: AbortSignal;
}

/**
 * Sends a subscription what had happened before the ledger went live, in order and
 * each once, also where it is called again or stopped in between. Never of a release:
 * the goods may have been handed over before.
 *
 * @param name The subscription; nothing is sent where it does not exist.
 */
export async function fireHistoric(
  driver: Driver,
  name: string,
  { dryRun = false, signal }: FireHistoryOptions,
): Promise<FiredHistory> {
  let [transitions, released] = [0, 0];
  for (let after: number | null = null;;) {
    signal?.throwIfAborted();
    const page = await retryLostRaces(() =>
      firePage(driver, name, { after, dryRun })
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
  { after, dryRun }: {
    readonly after: number | null;
    readonly dryRun: boolean;
  },
): Promise<FiredHistory & { readonly to: number } | null> {
  const [found] = await readPrimary(driver, [{
    sql: "SELECT patterns, historic_seq FROM subscriptions WHERE name = ?",
    args: [name],
  }]);
  const [patterns, place] = found?.rows[0] ?? [];
  if (typeof patterns !== "string") return null;
  const from = after ?? Number(place);
  const [rows] = await readPrimary(driver, [{
    sql: `SELECT EXISTS (SELECT 1 FROM log AS l WHERE l.no = t.no
        AND l.seq > t.seq AND l.flags & ${LIVE} > 0), ${TRANSITIONS}
      WHERE t.flags > 1 AND t.flags & ${HISTORIC} > 0 AND t.flags & ${LIVE} = 0
        AND t.seq > ? ORDER BY t.seq LIMIT ?`,
    args: [from, PAGE],
  }]);
  const historic = (rows?.rows ?? []).map(([late, ...row]) => ({
    ...transitionOf(row),
    isLate: late === 1,
  }));
  const to = historic.at(-1)?.seq;
  if (to === undefined) return null;
  const texts = JSON.parse(patterns) as readonly string[];
  const matches = matcher(
    texts.map((one) => one === "*" ? one : unlisted(one)),
  );
  const taken = historic.filter(matches);
  // Goods are shipped on it.
  const sent = taken.filter(({ logged }) => logged?.release !== "yes");
  if (!dryRun) {
    await driver.batch([
      expectRow("subscriptions", { name, historic_seq: from }),
      {
        sql: "UPDATE subscriptions SET historic_seq = ? WHERE name = ?",
        args: [to, name],
      },
      ...insertPast(name, sent),
    ], "write");
  }
  const released = taken.length - sent.length;
  return { transitions: sent.length, released, to };
}
