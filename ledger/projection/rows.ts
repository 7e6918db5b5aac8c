/** Rows of orders and users: what makes them, what their columns say, what leads to an order. */
import type { AssetTable } from "../../core/assets/environment.ts";
import {
  type Beside,
  isPaid,
  type OrderInContext,
  orderOf,
} from "../attention/attention.ts";
import { effectiveTime } from "../events/time.ts";
import type { Entity } from "../machines/transition.ts";
import { beganBy } from "../orders/expectations.ts";
import {
  evolveOrder,
  initialOrderFold,
  type OrderFold,
} from "../orders/order_fold.ts";
import { type OrderState, orderState } from "../states/order_state.ts";
import type { Fact } from "../events/fact.ts";
import type { Rows } from "../store/database.ts";
import type { SqlValue, Statement } from "../store/driver/driver.ts";
import {
  evolveUser,
  initialUserFold,
  type UserFold,
} from "../users/user_fold.ts";
import { userState } from "../users/user_state.ts";
import { msOf } from "../store/events.ts";
import {
  packOrder,
  packUser,
  type Row,
  type Told,
  unpackOrder,
  unpackUser,
} from "./doc.ts";
import { isOpen } from "./due.ts";
import type { LookupHash, LookupKind } from "./lookup_hash.ts";

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

export interface LookupLink {
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

/** Reads rows that a condition finds, `r` being their table. */
export function selectRows(
  table: Table,
  where: string,
  ...args: SqlValue[]
): Statement {
  const sql = `SELECT r.no, r.id, r.historic, r.told, r.fold FROM ${table} AS r
    WHERE ${where}`;
  return { sql, args };
}

const inserts = new Map<string, string>();

/** Inserts a row `into` a table, always of the same columns. */
export function insertRow(
  into: string,
  columns: Columns,
  conflict: (names: readonly string[]) => string = () => "",
): Statement {
  let sql = inserts.get(into);
  if (sql === undefined) {
    const names = Object.keys(columns);
    sql = `${into} (${names.join(", ")})
      VALUES (${names.map(() => "?").join(", ")}) ${conflict(names)}`;
    inserts.set(into, sql);
  }
  return { sql, args: Object.values(columns) };
}

/** Puts a row in the place of the one of its number. */
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

/**
 * The state of an order as readers see it: that of its fold, and what is known of it
 * besides.
 */
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
export const BEGINNING = 18;

/** What a text is looked up by: of long random ones the beginning is enough. */
export function lookupText(kind: LookupKind, text: string): string {
  return kind === "tx" || kind === "address"
    ? text.trim().slice(0, BEGINNING)
    : text;
}
