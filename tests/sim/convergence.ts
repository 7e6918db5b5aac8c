import { differences } from "../../cli/demo/differences.ts";
import {
  type OrderState,
  reconcile,
  type SqlValue,
  type UserState,
} from "../../ledger/mod.ts";
import { SUBSCRIPTION } from "./incarnation.ts";
import type { Inspector } from "./inspector.ts";
import { addOne, Broken, check } from "./journal.ts";
import { hasReadUsers, recoverWindow } from "./recover_chore.ts";
import { passing } from "./virtual_time.ts";
import type { World } from "./world.ts";

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

/** How it went. */
export interface Convergence {
  /** Time until the ledger agreed with the service, in virtual ms. */
  readonly agreedAfterMs: number;
  /** Time until nothing waited any more, in virtual ms. */
  readonly quietAfterMs: number;
}

/**
 * Ends all faults and waits, for a bounded time, until the ledger says what
 * the service says and nothing waits any more.
 *
 * @throws {Broken} When that does not come, or a rule breaks on the way.
 */
export async function converge(
  world: World,
  inspector: Inspector,
): Promise<Convergence> {
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
  await proven(world);
  return { agreedAfterMs, quietAfterMs: clock.now() - healedMs };
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
  const { clock, processes, plan, dice, journal } = world;
  const { incarnation } = dice.pick(processes);
  if (incarnation === null) return;
  const report = await passing(
    clock,
    recoverWindow(world, incarnation, {
      fromMs: plan.startMs - 21 * 24 * hourMs,
      toMs: clock.now(),
    }),
    pollLimitMs,
  );
  const { complete, why } = report;
  check("a recovery in peace ends in the proof", complete, () => why ?? "");
  await hasReadUsers(world, report);
  addOne(journal.chores, "recovery in peace");
  await inspector.look();
}

/** One poller polls once, or has had the time to; then a look. */
async function pollOnce(world: World, inspector: Inspector): Promise<void> {
  const { clock, processes, plan, dice } = world;
  if (plan.running) await clock.advance(10 * minuteMs);
  const { incarnation } = dice.pick(
    processes.filter(({ role }) => role.poller),
  );
  if (incarnation !== null) {
    await passing(clock, incarnation.poll(), pollLimitMs);
  }
  // What polls have appended is folded, chained and told.
  world.front.incarnation?.subscription?.wake();
  await clock.advance(11 * minuteMs);
  await inspector.look();
}

async function rows(
  world: World,
  sql: string,
  ...args: readonly SqlValue[]
): Promise<readonly (readonly SqlValue[])[]> {
  const [found] = await world.store.batch([{ sql, args }], "read");
  return found?.rows ?? [];
}

const LIVE = "(SELECT generation FROM projections WHERE name = 'live')";

/** Where the ledger and the service say different things. */
async function disagreements(world: World): Promise<string[]> {
  const { sandbox } = world;
  const orders = new Map<string, OrderState>();
  for (
    const [id, state] of await rows(
      world,
      `SELECT order_id, state FROM orders WHERE generation = ${LIVE}`,
    )
  ) orders.set(String(id), JSON.parse(String(state)));
  const wrong: string[] = [];
  for (const order of orders.values()) {
    if (sandbox.order(order.orderId) !== null) continue;
    orders.delete(order.orderId);
    const { trust, status, orderId } = order;
    // An id that cannot be asked for stays what a forger said of it.
    if (orderId.includes(",")) continue;
    const absent = order.anomalies.some(({ kind }) => kind === "absent");
    if (trust === "claimed" && status === "created" && absent) continue;
    wrong.push(`order ${orderId}, which is not there: ${trust} ${status}`);
  }
  for (const one of differences(sandbox.truth(), orders)) {
    wrong.push(
      `${one.field} of order ${one.orderId}: ${one.ledger}, not ${one.service}`,
    );
  }
  const users = new Map<string, UserState>();
  for (
    const [id, state] of await rows(
      world,
      `SELECT user_id, state FROM users WHERE generation = ${LIVE}`,
    )
  ) users.set(String(id), JSON.parse(String(state)));
  for (const user of sandbox.users()) {
    const known = users.get(user.userId);
    const said = [user.lkyc, user.fkyc, user.banned, user.country, "confirmed"];
    const says = [
      known?.verification.lkyc,
      known?.verification.fkyc,
      known?.banned,
      known?.country,
      known?.trust,
    ];
    if (said.join() === says.join()) continue;
    wrong.push(`user ${user.userId}: ${says.join()}, not ${said.join()}`);
  }
  return wrong;
}

/** What is still to be done by somebody. */
async function whatWaits(world: World): Promise<string[]> {
  const { front, disk, sandbox, processes } = world;
  const waiting: string[] = [];
  const none = (what: string, count: unknown) => {
    if (Number(count) !== 0) waiting.push(`${what}: ${count}`);
  };
  const one = async (sql: string, ...args: SqlValue[]) =>
    (await rows(world, sql, ...args))[0]?.[0];
  none("confirm queue", await one("SELECT count(*) FROM confirm_queue"));
  none("letters", await one("SELECT count(*) FROM letters"));
  none(
    "events not folded",
    await one(`SELECT count(*) FROM events WHERE position >
      (SELECT position FROM projections WHERE name = 'live')`),
  );
  none(
    "events not chained",
    await one(`SELECT count(*) FROM events WHERE position >
      coalesce((SELECT position FROM chain_checkpoint), 0)`),
  );
  none(
    "transitions not told",
    await one(
      `SELECT count(*) FROM transitions WHERE seq >
        (SELECT seq FROM subscriptions WHERE name = ?)`,
      SUBSCRIPTION,
    ),
  );
  none("spool", disk.length);
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
    for (const part of [status?.orders, status?.users]) {
      if (part?.complete === false) waiting.push(`proof: ${part.why}`);
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
  await passing(clock, ledger.chain(), hourMs);
  const verified = await passing(clock, ledger.verify(), hourMs);
  if (!verified.ok) {
    throw new Broken("the chain is valid", verified.detail ?? "");
  }
  // What was folded from a body since erased is folded without it.
  const ofErased = new Set(
    [...journal.erased.values()].flatMap(({ orderId, userId }) => [
      orderId,
      userId,
    ]),
  );
  const refolded = await passing(
    clock,
    ledger.refold({ dryRun: true }),
    hourMs,
  );
  const changed = refolded.changes.find(({ id }) => !ofErased.has(id));
  if (changed !== undefined) {
    throw new Broken("folding again changes nothing", JSON.stringify(changed));
  }
  const keys = await passing(
    clock,
    ledger.transitions({ limit: 1000 }),
    hourMs,
  );
  for (const { key, live } of keys) {
    if (!live || journal.told.has(key)) continue;
    throw new Broken("every transition is told", key);
  }
  const compared = await passing(
    clock,
    reconcile({ ledger, client, now: () => clock.now() }),
    hourMs,
  );
  const wrong = compared.rows.find((row) =>
    row.disagrees &&
    (row.category !== "absent" || world.sandbox.order(row.orderId) !== null)
  );
  if (wrong !== undefined || !compared.complete) {
    throw new Broken(
      "reconciling finds nothing but what forgers made up",
      compared.why ?? wrong?.detail ?? "",
    );
  }
}
