import { notTold } from "../world/not_told.ts";
import { describeFinding } from "../../../resources/wording/reconcile.ts";
import { reconcile, type SweepKind } from "../../../sync/mod.ts";
import { hasOddReading, isOdd, someHaveNoId } from "../chores/odd_ones.ts";
import { tookBack } from "../chores/took_back.ts";
import { hasReadUsers, recoverWindow } from "../chores/recover_chore.ts";
import { addOne, Broken, check } from "../world/journal.ts";
import { inProcess } from "./in_process.ts";
import { passing } from "../world/virtual_time.ts";
import type { World } from "../world/world.ts";
import { ordersByHand } from "./hand_watch.ts";
import { disagreements, orderOf } from "./disagreements.ts";
import { rows } from "./stored.ts";
import { lookAtOutcomes } from "./outcome_watch.ts";
import { served } from "../shop/served.ts";
import type { Inspector } from "./inspector.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/**
 * Waits between looks after healing: three hours in all. The first comes while
 * a clock that was set back has not caught up with itself.
 */
const LOOKS_MS: readonly number[] = [
  minuteMs,
  11 * minuteMs,
  20 * minuteMs,
  40 * minuteMs,
  108 * minuteMs,
];

/** Longest that one poll of everything may take. */
const pollLimitMs = 2 * hourMs;

/** Longest that webhooks go on being retried: the ladder, and some more. */
const ladderMs = 17 * hourMs;

/**
 * Ends all faults and waits, for a bounded time, until the ledger says what
 * the service says and nothing waits any more.
 *
 * @returns Time until the ledger agreed with the service, in virtual ms.
 * @throws {Broken} When that does not come, or a rule breaks on the way.
 */
export async function converge(
  world: World,
  inspector: Inspector,
): Promise<number> {
  const { clock, sandbox } = world;
  world.heal();
  const healedMs = clock.now();
  let wrong: string[] = ["not looked at"];
  for (const [at, waitMs] of LOOKS_MS.entries()) {
    await clock.advance(waitMs);
    if (at === 0 && world.plan.recovers) await recoverAll(world, inspector);
    else await pollOnce(world, inspector);
    wrong = await disagreements(world);
    if (wrong.length === 0) break;
  }
  agreed(wrong, `${(clock.now() - healedMs) / minuteMs} minutes`);
  const agreedAfterMs = clock.now() - healedMs;
  const lastMs = clock.now() + ladderMs;
  while (sandbox.delivery.state === "retrying" && clock.now() < lastMs) {
    await clock.advance(hourMs);
    await inspector.look();
  }
  let waiting = await whatWaits(world);
  wrong = await disagreements(world);
  // The last webhooks to come may have claimed what is to be asked about yet.
  for (let round = 0; round < 4; round++) {
    if (waiting.length + wrong.length === 0) break;
    await clock.advance(12 * minuteMs);
    await pollOnce(world, inspector);
    waiting = await whatWaits(world);
    wrong = await disagreements(world);
  }
  if (waiting.length > 0) {
    throw new Broken("queues get empty", waiting.join("; "));
  }
  agreed(wrong, "everything was quiet");
  if (world.plan.running) await inspector.lookInPeace();
  await proven(world);
  return agreedAfterMs;
}

function agreed(wrong: readonly string[], when: string): void {
  if (wrong.length === 0) return;
  throw new Broken(
    "the ledger comes to say what the service says",
    `after ${when}: ${wrong.slice(0, 4).join("; ")}` +
      (wrong.length > 4 ? ` and ${wrong.length - 4} more` : ""),
  );
}

/** A person reads everything again: what nobody has read is proven then. */
async function recoverAll(world: World, inspector: Inspector): Promise<void> {
  const { processes, plan, dice, journal } = world;
  const process = dice.pick(processes);
  if (process.incarnation === null) return;
  const report = await inProcess(
    world,
    process,
    (incarnation) =>
      recoverWindow(world, incarnation, {
        fromMs: plan.startMs - 21 * 24 * hourMs,
        toMs: world.now(),
      }),
    pollLimitMs,
  );
  const { complete, why } = report;
  check(
    "a recovery in peace ends in the proof",
    complete ||
      someHaveNoId(world, "order") || someHaveNoId(world, "user"),
    () => why?.code ?? "",
  );
  await hasReadUsers(world, report);
  addOne(journal.chores, "recovery in peace");
  await inspector.look();
}

/**
 * One poller polls once, or has had the time to; then a look. A poller that
 * crashed may hold the lease: then the others wait until it expires.
 *
 * @throws {Broken} When a poll does not end, or none can begin.
 */
export async function pollOnce(
  world: World,
  inspector: Inspector,
  kinds?: readonly SweepKind[],
): Promise<void> {
  const { clock } = world;
  const beganMs = clock.now();
  const before = world.delivery;
  do {
    check(
      "polling goes on once the lease of a crashed poller has expired",
      clock.now() - beganMs < pollLimitMs,
      () => `nobody has polled for ${(clock.now() - beganMs) / minuteMs} min`,
    );
    await pollOrWait(world, kinds);
    await inspector.look();
    // Each poll ends with a look at delivery.
  } while (world.delivery === before);
}

async function pollOrWait(
  world: World,
  kinds: readonly SweepKind[] | undefined,
): Promise<void> {
  const { clock, processes, plan, dice } = world;
  if (plan.running) await clock.advance(10 * minuteMs);
  const { incarnation, life } = dice.pick(
    processes.filter(({ role }) => role.poller),
  );
  if (incarnation !== null) {
    // A handler may take the process down with it.
    const ended = Promise.race([incarnation.poll(kinds), life.died]);
    const polled = passing(clock, ended, pollLimitMs);
    await polled.catch((error) => {
      throw new Broken("a poll ends", String(error));
    });
  }
  // What polls have appended is folded, chained and told.
  world.front.incarnation?.subscription?.wake();
  await clock.advance(11 * minuteMs);
}

/** What is still to be done by somebody. */
async function whatWaits(world: World): Promise<string[]> {
  const { front, disk, sandbox, processes } = world;
  const waiting: string[] = [];
  const none = (what: string, count: unknown) => {
    if (Number(count) !== 0) waiting.push(`${what}: ${count}`);
  };
  const one = async (sql: string) => (await rows(world, sql))[0]?.[0];
  const queue = await rows(
    world,
    `SELECT id FROM orders WHERE named_at IS NOT NULL
      UNION ALL SELECT id FROM users WHERE named_at IS NOT NULL`,
  );
  none(
    "confirm queue",
    queue.filter(([id]) => !sandbox.refuses(String(id))).length,
  );
  none("transitions not told", await one("SELECT count(*) FROM outbox"));
  none(
    "events not folded",
    await one(`SELECT count(*) FROM events WHERE position >
      (SELECT position FROM ledger)`),
  );
  none(
    "events not chained",
    await one(`SELECT count(*) FROM events WHERE position >
      coalesce((SELECT max(last_position) FROM seals), 0)`),
  );
  const stored = await rows(world, "SELECT id FROM events");
  const ids = new Set(stored.map(([id]) => id));
  none("spool", disk.deliveries().filter(({ id }) => !ids.has(id)).length);
  const stats = front.incarnation?.endpoint?.stats();
  none("notes of unanswered deliveries", stats?.unansweredNotes ?? -1);
  none("requests", stats?.inFlight ?? -1);
  none(
    "webhooks",
    sandbox.deliveries().filter(({ state }) => state === "pending").length,
  );
  for (const { incarnation } of processes) {
    const asked = incarnation?.poller?.status();
    const status = await (asked && passing(world.clock, asked, hourMs));
    for (const entity of ["order", "user"] as const) {
      const part = entity === "order" ? status?.orders : status?.users;
      if (part?.complete !== false || someHaveNoId(world, entity)) continue;
      waiting.push(`proof: ${part.why}`);
    }
  }
  return waiting;
}

/** What holds once everything is quiet, looked at the slow way. */
async function proven(world: World): Promise<void> {
  const { front, clock, journal } = world;
  if (front.incarnation === null) {
    throw new Broken("processes come back", "the endpoint is down");
  }
  const { ledger, client } = front.incarnation;
  const verified = await passing(clock, ledger.verify(), hourMs);
  if (!verified.ok) {
    throw new Broken("the chain is valid", verified.reason?.code ?? "");
  }
  const refolded = await passing(
    clock,
    ledger.refold({ dryRun: true }),
    hourMs,
  );
  const [changed] = refolded.changes;
  if (changed !== undefined) {
    throw new Broken("folding again changes nothing", JSON.stringify(changed));
  }
  // What another process has just logged is looked for every ten minutes only.
  const { subscription } = world.front.incarnation ?? {};
  if (subscription) await passing(clock, subscription.dispatch(), hourMs);
  const keys = await passing(
    clock,
    ledger.transitions({ limit: 1000 }),
    hourMs,
  );
  const lost = notTold(keys, journal.told, await ordersByHand(world));
  if (lost !== null) throw new Broken("every transition is told", lost);
  // The poller goes on: what it has recorded this moment is not folded yet.
  await passing(clock, ledger.project(), hourMs);
  await lookAtOutcomes(world);
  await served(world);
  const compared = await passing(
    clock,
    reconcile({ ledger, client, now: () => world.now() }),
    hourMs,
  );
  const { sandbox } = world;
  const wrong = [];
  for (const row of compared.rows) {
    const { orderId } = row;
    if (!row.disagrees || isOdd(world, orderId)) continue;
    if (sandbox.refuses(orderId) || sandbox.order(orderId) === null) continue;
    if (hasOddReading(await orderOf(world, orderId))) continue;
    // A final status that the service took back is to be found.
    if (row.category === "final_changed" && tookBack(world, orderId)) continue;
    wrong.push(row);
  }
  const refused = compared.why?.code === "order_refused";
  const proven = compared.complete || refused || someHaveNoId(world, "order");
  if (wrong.length > 0 || !proven) {
    throw new Broken(
      "reconciling finds nothing but what forgers made up",
      compared.why?.code ??
        (wrong[0] === undefined ? "" : describeFinding(wrong[0])),
    );
  }
}
