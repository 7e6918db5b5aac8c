/** What of the release log is handed to a handler, and what is known beside it. */
import type { AssetTable } from "../../core/assets/environment.ts";
import { grouped } from "../../core/waiting/grouped.ts";
import type { OrderState } from "../states/order_state.ts";
import type { ResultSet, Statement } from "../store/driver/driver.ts";
import { type UserState, userState } from "../users/user_state.ts";
import { unpackUser } from "../projection/doc.ts";
import { type LoggedTransition, transitionOf } from "../projection/log.ts";
import { YES } from "../projection/subscribers.ts";
import { ORDER_COLUMNS, orderOfRow } from "../reads/orders.ts";
import { listed } from "../store/database.ts";
import { outboxRowOf, selectOutbox, withTransitions } from "./outbox.ts";
import { matcher } from "../machines/pattern.ts";
import type { SubscriptionParts } from "./subscription_options.ts";

/** What is to be handed over, and what is known then. */
export interface Passed {
  /** As the handler is to see it; null for nothing. */
  readonly transition: LoggedTransition | null;
  /** Position of the last event that was folded. */
  readonly position: number;
  /** The order or user as it is now; null when there is none. */
  readonly state: OrderState | UserState | null;
  /** What is in the outbox of the same order or user and comes before. */
  readonly earlier: readonly LoggedTransition[];
}

/**
 * Decides what is handed over in place of a transition: a `yes` that was withdrawn
 * meanwhile is parked, and handed over under its own key once the order is released
 * again. A withdrawal says that it takes back a `yes` to the handlers that were called
 * with it.
 */
export function releaseGate(
  { driver, name, assets, options }: SubscriptionParts,
  guard: () => readonly Statement[],
): (transition: LoggedTransition) => Promise<Passed> {
  const matches = matcher(options.on);
  const takesYes = matches(YES);
  const isDecided = ({ logged }: LoggedTransition) =>
    logged !== null && (takesYes || logged.entered === "yes");
  const look = async (group: readonly LoggedTransition[]) => {
    const nos = listed(group.map(({ no }) => no));
    const places = group.map(({ no, seq }) => [no, seq]);
    const begins = group.filter(isDecided).flatMap(({ no, seq, logged }) =>
      logged?.entered === "yes"
        ? [[no, seq]]
        : logged?.entered === "restored"
        ? [[no, null]]
        : []
    );
    const reads = [
      { sql: "SELECT position FROM ledger", args: [] },
      { sql: EARLIER, args: [name, JSON.stringify(places)] },
      { sql: HANDED, args: [name, nos] },
      { sql: ORDERS, args: [nos] },
      { sql: USERS, args: [nos] },
    ];
    const begin = { sql: BEGIN, args: [name, JSON.stringify(begins)] };
    const decide = async () =>
      (await driver.batch([...guard(), begin, ...reads], "write"))
        .slice(-reads.length);
    if (group.some(isDecided)) return await decide();
    const found = await driver.batch(reads, "read");
    const position = Number(found[0]?.rows[0]?.[0] ?? 0);
    // A replica may be behind the outbox that the transitions are from.
    const isBehind = group.some((one) => one.position > position);
    return isBehind ? await decide() : found;
  };
  return grouped(async (group: readonly LoggedTransition[]) => {
    const found = await look(group);
    const known = knownOf(found, assets);
    const handed = new Map(
      found[2]?.rows.map(([state, ...row]) => {
        const yes = transitionOf(row);
        return [yes.no, { state, yes }];
      }),
    );
    const handOver = (one: LoggedTransition) => {
      const { state, yes } = handed.get(one.no) ?? {};
      if (one.logged === null || !isDecided(one)) return one;
      const { entered } = one.logged;
      if (entered === "yes") return state === "begun" ? one : null;
      if (entered !== "restored") {
        const wasCalled = state !== undefined && state !== "parked";
        return wasCalled ? one : { ...one, reverses: [] };
      }
      if (yes !== undefined && state !== "taken") {
        return state === "begun" ? yes : null;
      }
      return matches(one) ? one : null;
    };
    return (one) => ({ ...known(one), transition: handOver(one) });
  });
}

/**
 * Marks each `yes` as begun if its order is still released, else as parked; in place
 * of `restored` the one that was not taken. One statement, so that no withdrawal comes
 * between the look and the mark.
 */
const BEGIN = `INSERT INTO handed (no, name, seq, state)
  SELECT o.no, ?1, coalesce(w.value ->> 1, h.seq), CASE
    WHEN o.told ->> '$.release.last.release' = 'yes' THEN 'begun' ELSE 'parked' END
  FROM json_each(?2) AS w CROSS JOIN orders AS o ON o.no = w.value ->> 0
    LEFT JOIN handed AS h ON h.no = o.no AND h.name = ?1
  WHERE w.value ->> 1 IS NOT NULL OR h.state <> 'taken'
  ON CONFLICT (no, name) DO UPDATE SET seq = excluded.seq,
    state = CASE WHEN excluded.state = 'parked' AND state <> 'parked'
      THEN 'stopped' ELSE excluded.state END`;

const EARLIER = selectOutbox(
  "true ORDER BY b.seq",
  `json_each(?2) AS w CROSS JOIN outbox AS b INDEXED BY outbox_entity
    ON b.name = ?1 AND b.no = w.value ->> 0 AND b.seq < w.value ->> 1`,
);

const HANDED = `SELECT b.state, ${withTransitions("handed AS b")}
  WHERE b.name = ? AND b.no IN (SELECT value FROM json_each(?))`;

const ORDERS = `SELECT r.no, ${ORDER_COLUMNS} FROM orders AS r
  WHERE r.no IN (SELECT value FROM json_each(?))`;

const USERS = `SELECT no, id, fold FROM users
  WHERE no IN (SELECT value FROM json_each(?))`;

/** Worked out for each that asked: a handler may change what it is given. */
function knownOf(
  [at, earlier, , orders, users]: readonly ResultSet[],
  assets: AssetTable,
): (transition: LoggedTransition) => Omit<Passed, "transition"> {
  const [position] = at?.rows[0] ?? [];
  const before = earlier?.rows.map((row) => outboxRowOf(row).transition) ?? [];
  const orderRows = new Map(orders?.rows.map(([no, ...row]) => [no, row]));
  const userRows = new Map(users?.rows.map(([no, ...row]) => [no, row]));
  const stateOf = (no: number) => {
    const order = orderRows.get(no);
    if (order !== undefined) {
      const { context: _context, activity: _activity, ...state } =
        orderOfRow(order, assets).order;
      return state;
    }
    const user = userRows.get(no);
    return user === undefined
      ? null
      : userState(unpackUser(String(user[0]), String(user[1])));
  };
  return ({ no, seq }) => ({
    position: Number(position ?? 0),
    state: stateOf(no),
    earlier: before.filter((one) => one.no === no && one.seq < seq),
  });
}

/**
 * Whether an order or user still shows what a transition says it entered; of a
 * release, whether it is still decided so.
 */
export function isCurrent(
  { machine, status, trust, logged }: LoggedTransition,
  state: Passed["state"],
): boolean {
  if (state === null) return false;
  if ("verification" in state) {
    return machine === "lkyc" || machine === "fkyc"
      ? state.verification[machine] === status &&
        state.verificationTrust[machine] === trust
      : state.banned === (status === "banned");
  }
  if (logged !== null) return state.release === logged.release;
  return machine === "witness"
    ? state.witness?.verdict === status
    : state.status === status && state.trust === trust;
}
