import { readFact } from "../events/read_fact.ts";
import {
  type Driver,
  readPrimary,
  type Statement,
} from "../store/driver/driver.ts";
import { retryLostRaces } from "../store/driver/retrying_driver.ts";
import {
  checkpointsOf,
  expectCheckpoint,
  selectCheckpoints,
} from "../store/tables/checkpoints.ts";
import { blankEvents } from "../store/tables/erasure/blanked_events.ts";
import {
  type ErasableEvent,
  erasableEvents,
} from "../store/tables/erasure/erasable_events.ts";
import {
  insertFindings,
  moveComparison,
  selectCompared,
  selectComparison,
} from "../store/tables/erasure/erased_values.ts";
import { appendStatement } from "../store/tables/events/append.ts";
import { foldAgain, type NewEventParts } from "./earlier_events.ts";
import { readErasedNames } from "./erased_names.ts";
import { type FindValues, storedValues } from "./erased_values.ts";
import type { Comparison, ErasureParts } from "./erasure_parts.ts";
import { findHolders, type Holders } from "./find_holders.ts";
import { redactEvents } from "./redact_events.ts";

/** Events of one step. */
const STEP = 500;

/**
 * Compares the remaining events with the values of everybody erased, and blanks
 * those that hold one and are about nobody else. It continues where an
 * interrupted process stopped.
 */
export async function compareEvents(
  parts: ErasureParts,
  signal?: AbortSignal,
): Promise<Comparison> {
  let [blanked, listed] = [0, 0];
  for (;;) {
    signal?.throwIfAborted();
    const step = await retryLostRaces(() => compareStep(parts));
    if (step === null) return { blanked, listed };
    blanked += step.blank.length;
    listed += step.list.length;
  }
}

/**
 * Counts what {@linkcode compareEvents} would blank and list, and changes
 * nothing.
 *
 * @param find Says what is a value of the person.
 * @param without Positions that go anyway.
 */
export async function countHolders(
  driver: Driver,
  find: FindValues,
  without: ReadonlySet<number>,
): Promise<Comparison> {
  let [blanked, listed] = [0, 0];
  for (let from = 0;;) {
    const [rows] = await readPrimary(driver, [
      selectCompared(from, Number.MAX_SAFE_INTEGER, STEP),
    ]);
    const events = erasableEvents(rows).map(({ event }) => event);
    const last = events.at(-1);
    if (last === undefined) return { blanked, listed };
    from = last.position;
    const { blank, list } = await findHolders(
      driver,
      events.filter(({ position }) => !without.has(position)),
      find,
    );
    blanked += blank.length;
    listed += list.length;
  }
}

async function compareStep(parts: ErasureParts): Promise<Holders | null> {
  const { driver, now } = parts;
  const [checkpoints, comparison] = await readPrimary(driver, [
    selectCheckpoints,
    selectComparison,
  ]);
  const { live } = checkpointsOf(checkpoints);
  const row = comparison?.rows[0];
  const find = await storedValues(driver);
  if (row === undefined || live === null || find === null) return null;
  const [position, until] = row.map(Number) as [number, number];
  const [rows] = await readPrimary(driver, [
    selectCompared(position, until, STEP),
  ]);
  const events = erasableEvents(rows);
  const holders = await findHolders(
    driver,
    events.map(({ event }) => event),
    find,
  );
  const blank = new Set(holders.blank);
  const to = events.length < STEP
    ? until
    : events.at(-1)?.event.position ?? until;
  await driver.batch([
    ...await blanking(
      parts,
      events.filter(({ event }) => blank.has(event.position)),
      live,
    ),
    insertFindings(holders.list, new Date(now()).toISOString()),
    moveComparison(to, until),
  ], "write");
  return holders;
}

/** The statements that blank events which are folded already. */
export async function blanking(
  { driver, randomBytes, assets = "production", fold }: ErasureParts,
  events: readonly ErasableEvent[],
  live: NewEventParts["live"],
): Promise<Statement[]> {
  if (events.length === 0) return [];
  const users = await readErasedNames(
    driver,
    "user",
    events.flatMap(({ event }) => event.userId ?? []),
  );
  const redacted = redactEvents(events, {
    part: "identity",
    randomBytes,
    names: () => ({ userId: null, clickId: null }),
    isErased: (userId) => users.has(userId),
    matchOf: () => null,
  });
  const retained = redacted.flatMap((one) => one.retained ?? []);
  const again = {
    assets,
    randomBytes,
    live,
    readFact: fold?.readFact ?? readFact,
  };
  return [
    expectCheckpoint("live", live),
    ...blankEvents(redacted),
    ...await foldAgain(driver, again, {
      newIds: [],
      earlier: events,
      redacted,
    }),
    ...(retained.length === 0 ? [] : [appendStatement(retained)]),
  ];
}
