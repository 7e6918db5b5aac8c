/** Rows of orders and users: what makes them, what their columns say, what leads to an order. */
import { CLAIM_FIELDS, type ClaimBody } from "../events/event.ts";
import { effectiveTime } from "../events/time.ts";
import { unread } from "../events/readings.ts";
import {
  type Claim,
  evolveOrder,
  initialOrderFold,
  latestReading,
  type OrderFold,
} from "../orders/order_fold.ts";
import type { OrderReleases } from "../releases/order_release.ts";
import {
  evolveUser,
  initialUserFold,
  type UserFold,
  userState,
} from "../users/user_state.ts";
import { normaliseTime } from "../../core/time/service_time.ts";
import {
  isFinal,
  isKnownVerification,
  verificationRow,
} from "../machines/machine.ts";
import {
  contestingClaims,
  decideOrderStatus,
  nextFinalReadMs,
  requestAgainAfterMs,
} from "../orders/order_status.ts";
import {
  insertMany,
  type Rows,
  type SqlValue,
  type Statement,
} from "../store/database.ts";
import { msOf } from "../store/events.ts";
import type { AssetTable } from "../../core/assets/environment.ts";
import {
  type Beside,
  isPaid,
  type OrderInContext,
  orderOf,
  type OrderState,
  orderState,
} from "../states/order_state.ts";
import type { Entity } from "../machines/transition.ts";
import { beganBy } from "../orders/expectations.ts";
import type { Fact } from "../events/fact.ts";
import type { LookupHash, LookupKind } from "./guard.ts";

/** What was told of an order or a user. A refold keeps it. */
export interface Told {
  /** How often each code of the log was entered. */
  readonly times: Readonly<Record<string, number>>;
  /** The last status told of each machine whose entries recur. */
  readonly last: Readonly<Record<string, string>>;
  readonly release?: OrderReleases;
  /** Status and entry of the last release, if it waits for a person. */
  readonly withheld?: readonly [status: string, entry: number];
}

export const NOTHING_TOLD: Told = { times: {}, last: {} };

export interface Row<Fold> {
  readonly no: number;
  readonly fold: Fold;
  readonly told: Told;
  /** 0 news; 1 of before the ledger went live; 2 such a one, and listed. */
  readonly historic: number;
}

export function packOrder(fold: OrderFold): string {
  const packed = filled(fold, ["orderId", "latest"]);
  for (const name of READINGS) {
    const reading = fold[name];
    if (reading !== null) packed[name] = pack(READING, reading);
  }
  let before: ClaimBody | null = null;
  packed.claims = fold.claims.map(({ status, lastAt, bodies }) => [
    status,
    lastAt,
    ...bodies.map((body) => {
      const short = pack(CLAIM, body, fold.latest, before);
      before = body;
      return short;
    }),
  ]);
  return JSON.stringify(packed);
}

export function unpackOrder(orderId: string, document: string): OrderFold {
  const packed = JSON.parse(document) as Loose;
  const fold: Loose = { ...initialOrderFold(orderId), ...packed };
  for (const name of READINGS) {
    const reading = packed[name] as readonly unknown[] | undefined;
    if (reading !== undefined) fold[name] = unpack(READING, reading);
  }
  const latest = latestReading(fold as unknown as OrderFold);
  fold.latest = latest;
  let before: ClaimBody | null = null;
  fold.claims = (packed.claims as PackedClaim[]).map(
    ([status, lastAt, ...bodies]): Claim => ({
      status,
      lastAt,
      bodies: bodies.map((short) =>
        before = unpack(CLAIM, short, latest, before)
      ),
    }),
  );
  return fold as unknown as OrderFold;
}

export function packUser(fold: UserFold): string {
  return JSON.stringify(filled(fold, ["userId"]));
}

export function unpackUser(userId: string, document: string): UserFold {
  return { ...initialUserFold(userId), ...JSON.parse(document) };
}

type Loose = Record<string, unknown>;
type PackedClaim = readonly [Claim["status"], string, ...unknown[][]];

const READINGS = ["plausible", "ahead", "statusless", "redacted"] as const;

const READING = unread;
const CLAIM = Object.fromEntries(
  ["digest", ...CLAIM_FIELDS].map((name) => [name, null]),
) as unknown as ClaimBody;

/**
 * Writes a record by the places of its fields: names are half of its bytes. A number says
 * which record has the same: 0 an empty one, 1 the latest reading, 2 the claim before it.
 */
function pack(empty: object, record: object, ...others: (object | null)[]) {
  const known = [empty, ...others] as (Loose | null)[];
  const values = Object.keys(empty).map((name) => {
    const value = (record as Loose)[name];
    const same = known.findIndex((one) => one && isSame(value, one[name]));
    return same < 0 ? value : same;
  });
  while (values.at(-1) === 0) values.pop();
  return values;
}

function unpack<Record extends object>(
  empty: Record,
  packed: readonly unknown[],
  ...others: (object | null)[]
): Record {
  const known = [empty, ...others] as (Loose | null)[];
  const record = { ...empty } as Loose;
  for (const [at, name] of Object.keys(empty).entries()) {
    const value = at in packed ? packed[at] : 0;
    record[name] = typeof value === "number" ? known[value]?.[name] : value;
  }
  return record as Record;
}

function isSame(value: unknown, other: unknown): boolean {
  return value === other ||
    (Array.isArray(value) && value.length === 0 && Array.isArray(other));
}

function filled(record: object, without: readonly string[]): Loose {
  return Object.fromEntries(
    Object.entries(record).filter(([name, value]) =>
      !without.includes(name) && value !== null && value !== undefined &&
      value !== false && !(Array.isArray(value) && value.length === 0)
    ),
  );
}

/** 2: a final status was claimed for the first time; 1: another; 0: nothing new. */
export type Urgency = 0 | 1 | 2;

export interface ToConfirm {
  readonly at: string;
  readonly urgency: Urgency;
  /** Position of the last of them that makes it urgent; 0 where none does. */
  readonly claimedBy: number;
}

/**
 * Each status that no reading has shown makes an order or a user urgent once, however
 * often it is claimed.
 */
export function urgencyOf(
  before: OrderFold | UserFold | undefined,
  after: OrderFold | UserFold,
): Urgency {
  const known = before === undefined ? [] : statedIn(before);
  const first = statedIn(after).flatMap(({ claimed, shown, ends }, at) =>
    claimed.filter((status) =>
      !shown.includes(status) && !known[at]?.claimed.includes(status)
    ).map(ends)
  );
  return first.length === 0 ? 0 : first.includes(true) ? 2 : 1;
}

function statedIn(fold: OrderFold | UserFold) {
  if ("orderId" in fold) {
    return [{
      claimed: fold.claims.map(({ status }): string => status),
      shown: fold.observedStatuses.map(({ status }): string => status),
      ends: isFinal,
    }];
  }
  return ([
    [fold.lkyc, fold.observedLkyc],
    [fold.fkyc, fold.observedFkyc],
  ] as const).map(([claims, shown]) => ({
    claimed: claims.map(({ state }) => state).filter(isKnownVerification),
    ...{ shown: [...shown], ends: (one: string) => verificationRow(one).final },
  }));
}

/**
 * Columns that say when to ask. `named_at`: from when on, because a webhook named it;
 * `urgency` and the position `claimed_by` say how soon, `wanted_at` when the last such
 * webhook came. `due_at`: when an order is asked about again without one.
 */
export const DUE_COLUMNS: readonly string[] = [
  ...["urgency", "claimed_by", "wanted_at", "named_at", "due_at"],
];

/** What the service refuses is not urgent: it is asked for alone, and less often. */
const urgencyNow = (entity: string) =>
  `CASE WHEN excluded.urgency > 0 AND EXISTS (SELECT 1 FROM set_aside AS a
      WHERE a.entity = '${entity}' AND a.id = excluded.id AND a.kind = 'refused')
    THEN 0 ELSE excluded.urgency END`;

/** The rest that the last ask began; one that never ends counts as none. */
const rested = (entity: string) =>
  `coalesce((SELECT b.rests_until FROM observations AS b
      WHERE b.entity = '${entity}' AND b.id = excluded.id
        AND b.rests_until > excluded.wanted_at
        AND b.rests_until <= excluded.wanted_at + b.rest_ms),
    excluded.wanted_at)`;

/**
 * What the columns become of a row that is there. What waits keeps its place, however
 * often it is named again; what is urgent is due at once, though it rests.
 */
export function dueChanges(table: "orders" | "users"): string {
  const entity = table === "orders" ? "order" : "user";
  const urgent = urgencyNow(entity);
  const named = `urgency = max(urgency, ${urgent}),
    claimed_by = max(claimed_by, iif(${urgent} > 0, excluded.claimed_by, 0)),
    wanted_at = coalesce(max(wanted_at, excluded.wanted_at), excluded.wanted_at,
      wanted_at),
    named_at = CASE WHEN excluded.wanted_at IS NULL THEN named_at
      WHEN ${urgent} > 0 THEN min(coalesce(named_at, excluded.wanted_at),
        excluded.wanted_at)
      ELSE coalesce(named_at, ${rested(entity)}) END`;
  return table === "users" ? `${named}, due_at = NULL` : `${named},
    due_at = CASE WHEN excluded.due_at IS NULL THEN NULL
      WHEN due_at IS NULL OR (open = 1 AND excluded.open = 0) THEN excluded.due_at
      ELSE min(due_at, excluded.due_at) END`;
}

/** What these columns say of a row by itself; an order is asked about without a webhook too. */
export function dueOf(
  fold: OrderFold | UserFold,
  named: ToConfirm | undefined,
): Readonly<Record<string, SqlValue>> {
  const namedMs = named === undefined ? null : Date.parse(named.at);
  const lastMs = msOf(fold.activity.lastAt);
  return {
    urgency: named?.urgency ?? 0,
    claimed_by: named?.claimedBy ?? 0,
    wanted_at: namedMs,
    named_at: namedMs,
    due_at: lastMs === null || "userId" in fold ? null : dueAfter(fold, lastMs),
  };
}

/** When to ask again of an order that nothing new asks for; null: never. */
function dueAfter(fold: OrderFold, lastMs: number): number | null {
  return isOpen(fold)
    ? lastMs + requestAgainAfterMs(lastMs - lastMovedMs(fold))
    : nextFinalReadMs(finalSinceMs(fold, lastMs), lastMs);
}

/** Whether the service should go on being asked about an order. */
function isOpen(fold: OrderFold): boolean {
  const { status, trust } = decideOrderStatus(fold);
  return trust !== "confirmed" || !isFinal(status) ||
    contestingClaims(fold).length > 0;
}

/** When an order last changed, as far as is known, in ms since the epoch. */
export function lastMovedMs(fold: OrderFold): number {
  const times = [
    fold.latest?.changedAt ?? "",
    ...fold.claims.map((claim) => claim.lastAt),
  ].map((time) => Date.parse(time));
  return Math.max(0, ...times.filter((time) => !Number.isNaN(time)));
}

/** Since when an order is final; a time yet to come counts as now. */
export function finalSinceMs(fold: OrderFold, nowMs: number): number {
  const changedAt = normaliseTime(fold.latest?.changedAt ?? null);
  const changedMs = changedAt === null ? NaN : Date.parse(changedAt);
  return changedMs <= nowMs ? changedMs : nowMs;
}

export const TABLES = ["orders", "users"] as const;

export type Table = (typeof TABLES)[number];

export type Columns = Readonly<Record<string, SqlValue>>;

export interface RowContext {
  readonly assets: AssetTable;
  readonly hash: LookupHash;
}

export interface Kind<Fold> {
  readonly entity: Entity;
  initial(id: string): Fold;
  evolve(fold: Fold, fact: Fact): Fold;
  unpack(id: string, document: string): Fold;
  state(fold: Fold, assets: AssetTable): object;
  /** Every column but those that say when to ask the service, and what leads to it. */
  written(row: Row<Fold>, context: RowContext): Written;
}

interface Written {
  readonly columns: Columns;
  readonly links: readonly LookupLink[];
}

interface LookupLink {
  readonly kind: LookupKind;
  readonly link: string;
  /** Whether the service has shown it. */
  readonly confirmed: boolean;
}

export const KINDS: {
  readonly orders: Kind<OrderFold>;
  readonly users: Kind<UserFold>;
} = {
  orders: {
    entity: "order",
    initial: initialOrderFold,
    evolve: evolveOrder,
    unpack: unpackOrder,
    state: (fold, assets) => orderState(fold, { assets }),
    written: writtenOrder,
  },
  users: {
    entity: "user",
    initial: initialUserFold,
    evolve: evolveUser,
    unpack: unpackUser,
    state: userState,
    written: (row) => ({ columns: userColumns(row), links: [] }),
  },
};

export function selectRows(
  table: Table,
  where: string,
  ...args: SqlValue[]
): Statement {
  const sql = `SELECT r.no, r.id, r.historic, r.told, r.fold FROM ${table} AS r
    WHERE ${where}`;
  return { sql, args };
}

/** Inserts rows of the same columns `into` a table. */
export function insertRows(
  into: string,
  rows: readonly Columns[],
  conflict: (names: readonly string[]) => string = () => "",
): Statement[] {
  const names = Object.keys(rows[0] ?? {});
  const values = rows.map((row) => Object.values(row));
  return insertMany(`${into} (${names.join()})`, values, conflict(names));
}

export function updateRow(table: string, columns: Columns): Statement {
  const set = Object.keys(columns).map((name) => `${name} = ?`);
  return {
    sql: `UPDATE ${table} SET ${set.join(", ")} WHERE no = ?`,
    args: [...Object.values(columns), columns.no ?? null],
  };
}

function reading<Fold>({ unpack }: Kind<Fold>) {
  return (rows: Rows = []): Map<string, Row<Fold>> =>
    new Map(rows.map(([no, id, historic, told, fold]) => [String(id), {
      ...{ no: Number(no), historic: Number(historic) },
      told: JSON.parse(String(told)) as Told,
      fold: unpack(String(id), String(fold)),
    }]));
}

export const orderRows = reading(KINDS.orders);
export const userRows = reading(KINDS.users);

export function orderView(
  { fold, told }: Pick<Row<OrderFold>, "fold" | "told">,
  { assets, compares = true }: {
    readonly assets: AssetTable;
    readonly compares?: boolean;
  },
): OrderInContext {
  return orderOf(orderState(fold, { assets }), compares, besideOf(told));
}

/** What was told of an order says how it stands beside others. */
export function besideOf({ release, withheld }: Partial<Told>): Beside {
  return { twice: release?.last?.reason === "paid_twice", withheld };
}

function writtenOrder(
  row: Row<OrderFold>,
  { assets, hash }: RowContext,
): Written {
  const { fold, historic } = row;
  const state = orderView(row, { assets });
  const columns = {
    no: row.no,
    id: fold.orderId,
    at: orderAtMs(fold),
    began: msOf(beganBy(fold)),
    status: state.status,
    trust: state.trust,
    open: isOpen(fold) ? 1 : 0,
    release: state.release,
    reason: state.releaseReason,
    outcome: state.outcome,
    // What had ended before the ledger went live was somebody else's task.
    attention: historic === 1 ? null : spaced(attentionNow(state)),
    anomalies: spaced(state.anomalies.map(({ kind }) => kind)),
    waiting_since: waitingSince(state),
    // By its id: nothing else may be known of the user.
    user_hash: state.userId === null ? null : hash.of("user", state.userId),
    asset: state.commodity,
    network: state.network,
    currency: state.currency,
    amount: amountUnits(state.currencyAmount),
    historic,
    shown: fold.latest === null ? 0 : 1,
    told: JSON.stringify(row.told),
    fold: packOrder(fold),
  };
  const { txId, address, cardId, expected } = state;
  const confirmed = state.confirmed !== null;
  const links: [LookupKind, string | null | undefined][] = [
    ["tx", txId],
    ["address", address],
    ["card", cardId],
    ["session", confirmed ? expected?.sessionId : null],
  ];
  return {
    columns,
    links: links.flatMap(([kind, link]) =>
      link ? [{ kind, link, confirmed }] : []
    ),
  };
}

/** What orders are sorted by: when one was created, else when it was first named. */
export function orderAtMs({ latest, activity }: OrderFold): number {
  return msOf(latest?.createdAt) ?? msOf(activity.firstAt) ?? 0;
}

function attentionNow(state: OrderInContext): readonly string[] {
  const withheld = state.context?.withheld ?? null;
  return withheld === null
    ? state.attention
    : [...state.attention, "yes_withheld"];
}

/** Since when an order is paid and has not moved, or waits for the chain. */
function waitingSince(state: OrderState): number | null {
  const waits = isPaid(state) || state.releaseReason === "witness_open";
  return waits ? msOf(state.changedAt) : null;
}

/** Millionths of an amount, worked out without a binary fraction. */
export function amountUnits(decimal: string | null): number | null {
  const [, whole = "", fraction = ""] =
    /^(\d{1,9})(?:\.(\d*))?$/.exec(decimal ?? "") ?? [];
  const units = fraction.replace(/0+$/, "");
  return whole === "" || units.length > 6
    ? null
    : Number(whole + units.padEnd(6, "0"));
}

/** Kinds between spaces, so that one is found by ` kind `. */
function spaced(kinds: readonly string[]): string | null {
  return kinds.length === 0 ? null : ` ${[...new Set(kinds)].join(" ")} `;
}

function userColumns({ no, fold, historic, told }: Row<UserFold>): Columns {
  const { latest } = fold;
  const created = latest?.createdAt
    ? effectiveTime(latest.createdAt, latest.readAt).counts
    : null;
  const { status, trust } = userState(fold);
  return {
    no,
    id: fold.userId,
    at: msOf(created) ?? msOf(fold.activity.firstAt) ?? 0,
    status,
    trust,
    historic,
    shown: latest === null ? 0 : 1,
    told: JSON.stringify(told),
    fold: packUser(fold),
  };
}

/** Characters of a transaction or an address that lead to it. */
const BEGINNING = 18;

/** What a text is looked up by: of long random ones the beginning is enough. */
export function lookupText(kind: LookupKind, text: string): string {
  return kind === "tx" || kind === "address"
    ? text.trim().slice(0, BEGINNING)
    : text;
}
