import type { Ledger, NewEvent, OrderView } from "../../../ledger/mod.ts";
import type { RecordedEvent } from "../../../ledger/testing/mod.ts";
import { eventsIn, rows } from "../rules/stored.ts";
import type { Dice } from "../world/dice.ts";
import type { Incarnation } from "../world/incarnation.ts";
import { check } from "../world/journal.ts";
import type { World } from "../world/world.ts";
import { CopiedLedger } from "./copied_ledger.ts";
import {
  DeadSpool,
  deliveriesOf,
  type Traced,
  tracesOf,
} from "./person_traces.ts";

const RULE = "nothing is left of a person who was erased";
const REST = "an erasure changes nothing else";
const text = new TextDecoder();

/**
 * A copy of the ledger forgets a person, in processes that crash, and is told of
 * the person again.
 *
 * @returns Whether there was anybody.
 */
export async function forgetSomebody(
  world: World,
  { ledger, foldVersion }: Incarnation,
  dice: Dice,
): Promise<boolean> {
  // What was folded from a body since erased is folded without it.
  const bodiless = [...world.journal.erased.values()]
    .flatMap(({ orderId, userId }) => [orderId, userId]);
  const path = world.newFile();
  await ledger.backup(path);
  const copy = new CopiedLedger(world, dice, path);
  try {
    await copy.finish(foldVersion, (other) => other.project());
    const [live] = await rows(copy, "SELECT fold_version FROM ledger");
    // An older version erases nobody from what a newer one has folded.
    if (live?.[0] !== foldVersion) return false;
    const events = await eventsIn(copy);
    const people = [
      ...new Set(
        events.flatMap(({ kind, userId, body }) =>
          kind === "order_snapshot" && userId !== null && body !== null
            ? [userId]
            : []
        ),
      ),
    ].sort();
    if (people.length === 0) return false;
    const given = people.filter((one) => clickOf(one, events) !== null);
    const person = dice.pick(
      given.length > 0 && dice.chance(0.7) ? given : people,
    );
    const values = valuesOf(eventsOf(person, events), events);
    const traced: Traced = {
      person,
      clickId: clickOf(person, events),
      otherOrder: otherOrderOf(person, events, dice),
    };
    if (traced.clickId !== null) values.push(traced.clickId);
    const spool = new DeadSpool(world, dice.fork("spool"));
    const left = deliveriesOf(world, tracesOf(world, traced, dice), dice);
    await copy.finish(foldVersion, async (other) => {
      for (const delivery of left) {
        await other.appendDelivery(delivery);
      }
    });
    if (dice.chance(0.5)) {
      await spool.leave(
        deliveriesOf(world, [...tracesOf(world, traced, dice), {
          ...{ type: "login", click_id: "", user: { user_id: person } },
        }], dice),
      );
    }
    const drain = (other: Ledger) => () =>
      spool.drain((records) => other.appendRecords(records));
    await copy.finish(foldVersion, async (other) => {
      await (world.ports.leftSpool?.(drain(other)) ?? drain(other))();
      await other.project();
    });
    const all = await eventsIn(copy);
    const own = eventsOf(person, all);
    const before = await copy.finish(foldVersion, statesOf);
    const released = await releasesOf(copy);
    await copy.finish(foldVersion, async (other) => {
      const plan = await other.erasures.plan(person);
      const foreign = plan.orders.find(({ orderId }) =>
        orderId === traced.otherOrder || orderId.startsWith("01NOORDER")
      );
      check(
        "no webhook makes an order the order of somebody who is erased",
        foreign === undefined,
        () => `order ${foreign?.orderId} would go with ${person}`,
      );
    });
    await copy.finish(foldVersion, async (other) => {
      await other.erasures.erase(person, { force: true });
      await other.project();
      await blankListed(other);
    });
    await nothingIsLeft(copy, values);
    isNotSpooled(spool, values);
    const after = await copy.finish(foldVersion, statesOf);
    othersStay(before, after, { person, own, all, bodiless });
    const stillReleased = await releasesOf(copy);
    check(
      REST,
      stillReleased.join("\n") === released.join("\n"),
      () => `the release log was ${released}, is ${stillReleased}`,
    );
    const late = deliveriesOf(world, tracesOf(world, traced, dice), dice);
    await copy.finish(foldVersion, async (other) => {
      for (const delivery of late) {
        await other.appendDelivery(delivery);
      }
      await other.project();
      await blankListed(other);
    });
    await nothingIsLeft(copy, values);
    // What was said of the person is said again.
    await copy.finish(foldVersion, async (other) => {
      await other.append(
        own.filter(isWhole).filter(({ kind }) => kind !== "session_created")
          .map((event) =>
            event.kind === "webhook"
              ? { ...event, eventId: `${event.eventId}x` }
              : event
          ),
      );
      await other.project();
    });
    await nothingIsLeft(copy, values);
    const again = await copy.finish(foldVersion, async (other) => {
      const { changes } = await other.refold();
      const changed = changes.filter(({ id }) => !bodiless.includes(id));
      return { changed: changed.length, ...await other.verify() };
    });
    check(
      "an erasure leaves the chain and the states whole",
      again.ok && again.unchained === 0 && again.changed === 0,
      () =>
        again.reason?.code ??
          `${again.unchained} unchained, ${again.changed} states changed`,
    );
    return true;
  } finally {
    await copy.store.close();
  }
}

/** A person blanks what the erasure lists and does not blank itself. */
async function blankListed({ erasures }: Ledger): Promise<void> {
  const listed = (await erasures.findings())
    .filter(({ settled }) => settled === null)
    .map(({ position }) => position);
  if (listed.length > 0) await erasures.settle(listed, "blank");
}

/**
 * A click id that the partner gave the person, and nobody else has, nor may
 * have: an order that the service was not asked for yet can be anybody's.
 */
function clickOf(
  person: string,
  events: readonly RecordedEvent[],
): string | null {
  const answered = new Set(
    events.flatMap(({ kind, orderId }) =>
      kind === "order_snapshot" || kind === "order_absent" ? orderId ?? [] : []
    ),
  );
  const open = new Set(
    events.flatMap(({ orderId, clickId }) =>
      orderId !== null && !answered.has(orderId) ? clickId ?? [] : []
    ),
  );
  const read = events.filter(({ kind }) => kind === "order_snapshot");
  const [own, others] = [true, false].map((isOwn) =>
    new Set(
      read.filter(({ userId }) => (userId === person) === isOwn)
        .map(({ clickId }) => clickId),
    )
  );
  const minted = events.find(({ kind, clickId }) =>
    (kind === "session_created" || kind === "order_expected") &&
    clickId !== null && clickId.length >= TELLING && !open.has(clickId) &&
    own?.has(clickId) === true && others?.has(clickId) === false
  );
  return minted?.clickId ?? null;
}

function otherOrderOf(
  person: string,
  events: readonly RecordedEvent[],
  dice: Dice,
): string | null {
  const others = events.flatMap(({ kind, userId, orderId }) =>
    kind === "order_snapshot" && userId !== null && userId !== person
      ? orderId ?? []
      : []
  );
  return others.length === 0 ? null : dice.pick(others);
}

/** The release log, as it is. */
async function releasesOf(copy: CopiedLedger): Promise<string[]> {
  const found = await rows(
    copy,
    `SELECT no, code, entry, more ->> 'reason' FROM log
      WHERE no % 2 = 0 AND code GLOB 'release.*' ORDER BY seq`,
  );
  return found.map((row) => row.join(" "));
}

/** What was taken into the ledger is overwritten in the spool. */
function isNotSpooled({ disk }: DeadSpool, values: readonly string[]): void {
  const all = disk.deliveries().map(({ body }) => text.decode(body)).join("\n");
  const left = values.find((value) => all.includes(value));
  check(RULE, left === undefined, () => `the spool holds ${left}`);
}

/** Kinds of events about an order that name nobody. */
const NAMELESS: ReadonlySet<string> = new Set([
  ...["order_absent", "order_contradicted", "order_released"],
]);

/** Events that name the person, and those of the person's orders. */
function eventsOf(
  person: string,
  events: readonly RecordedEvent[],
): RecordedEvent[] {
  const orders = new Set(
    events.flatMap(({ kind, userId, orderId }) =>
      kind === "order_snapshot" && userId === person ? orderId ?? [] : []
    ),
  );
  return events.filter(({ userId, orderId, kind }) =>
    userId === person ||
    (orders.has(orderId ?? "") && !NAMELESS.has(kind))
  );
}

/** Longer than what a chance would repeat. */
const TELLING = 8;

/** Values that nobody else's events hold, and that do not stay. */
function valuesOf(
  own: readonly RecordedEvent[],
  events: readonly RecordedEvent[],
): string[] {
  const others = events.filter((event) => !own.includes(event))
    .map(({ body, userId, clickId, eventId }) =>
      `${
        body === null ? "" : text.decode(body)
      } ${userId} ${clickId} ${eventId}`
    ).join("\n");
  const values = new Set<string>();
  const take = (value: unknown, name: string) => {
    if (Array.isArray(value)) value.forEach((one) => take(one, name));
    else if (typeof value === "object" && value !== null) {
      for (const [key, inner] of Object.entries(value)) take(inner, key);
    } else if (
      typeof value === "string" && value.length >= TELLING && !STAYS.has(name)
    ) values.add(value);
  };
  for (const { body, orderId } of own) {
    try {
      const root = JSON.parse(text.decode(body ?? new Uint8Array()));
      take({ ...root, order: { ...root.order, id: "" } }, "");
    } catch {
      // No JSON names nobody.
    }
    values.delete(orderId ?? "");
  }
  return [...values].filter((value) => !others.includes(value));
}

const STAYS: ReadonlySet<string> = new Set([
  ...["order_id", "status", "created_at", "changed_at", "currency", "crypto"],
  ...["currency_amount", "crypto_amount", "quote_amount", "base_amount"],
  ...["partner_fee", "service_fee", "type", "fail_reason", "state"],
  ...["lkyc", "fkyc", "lkyc_status", "fkyc_status"],
]);

async function nothingIsLeft(
  copy: CopiedLedger,
  values: readonly string[],
): Promise<void> {
  const tables = await rows(
    copy,
    "SELECT name FROM sqlite_schema WHERE type = 'table'",
  );
  for (const [table] of tables) {
    const found = await rows(copy, `SELECT * FROM "${table}"`);
    const all = found.flat().map((value) =>
      value instanceof Uint8Array ? text.decode(value) : String(value)
    ).join("\n");
    const left = values.find((value) => all.includes(value));
    check(RULE, left === undefined, () => `${table} holds ${left}`);
  }
}

interface States {
  readonly orders: ReadonlyMap<string, OrderView>;
  readonly users: ReadonlyMap<string, string>;
}

async function statesOf(ledger: Ledger): Promise<States> {
  const orders = await Array.fromAsync(ledger.orders.list({}));
  const users = await Array.fromAsync(ledger.users.list({}));
  return {
    orders: new Map(orders.map((order) => [order.orderId, order])),
    users: new Map(
      users.map((user) => [user.userId, JSON.stringify(user)]),
    ),
  };
}

function othersStay(
  before: States,
  after: States,
  { person, own, all, bodiless }: {
    readonly person: string;
    readonly own: readonly RecordedEvent[];
    readonly all: readonly RecordedEvent[];
    readonly bodiless: readonly (string | null)[];
  },
): void {
  const named = new Set(own.flatMap(({ userId }) => userId ?? []));
  // A session of the person may have been linked to another's order.
  const clicks = new Set(own.flatMap(({ clickId }) => clickId ?? []));
  // A person blanks what holds a click id of the person beside any order.
  const touched = new Set(
    [...own, ...all.filter(({ clickId }) => clicks.has(clickId ?? ""))]
      .flatMap(({ orderId }) => orderId ?? []),
  );
  check(RULE, !after.users.has(person), () => `${person} is still a user`);
  for (const [id, was] of before.orders) {
    if (bodiless.includes(id)) continue;
    const is = after.orders.get(id);
    const isTouched = touched.has(id) || clicks.has(was.clickId ?? "") ||
      clicks.has(was.expected?.clickId ?? "");
    const [left, right] = [was, is].map((order) =>
      order === undefined
        ? "gone"
        : JSON.stringify(isTouched ? retainedPart(order) : order)
    );
    check(REST, left === right, () => `order ${id} was ${left}, is ${right}`);
  }
  for (const [id, was] of before.users) {
    if (named.has(id) || bodiless.includes(id)) continue;
    const is = after.users.get(id);
    check(REST, was === is, () => `user ${id} was ${was}, is ${is}`);
  }
}

function retainedPart(order: OrderView) {
  const { status, trust, reason, release, createdAt, changedAt } = order;
  const { currency, currencyAmount, commodity, cryptoAmount, network } = order;
  const { fees, history, transferSeen, activity } = order;
  const { outcome, releaseReason, booked } = order;
  return [
    ...[status, trust, reason, release, createdAt, changedAt, currency],
    ...[currencyAmount, commodity, cryptoAmount, network, fees, history],
    ...[transferSeen, activity, outcome, releaseReason, booked],
  ];
}

function isWhole(event: RecordedEvent): event is RecordedEvent & NewEvent {
  return event.body !== null && event.digest !== null && event.salt !== null;
}
