/** What of the release log is handed to a handler, and the order or user beside it. */
import type { AssetTable } from "../../core/assets/environment.ts";
import { grouped } from "../../core/waiting/grouped.ts";
import type { Transition } from "../machines/transition.ts";
import type { OrderState } from "../states/order_state.ts";
import type { Driver, ResultSet, Statement } from "../store/driver/driver.ts";
import { type UserState, userState } from "../users/user_state.ts";
import { unpackUser } from "../projection/doc.ts";
import {
  type LoggedTransition,
  transitionOf,
  TRANSITIONS,
} from "../projection/log.ts";
import { ORDER_COLUMNS, orderOfRow } from "../reads/orders.ts";
import { listed } from "../store/database.ts";

/** An order or user as it is now. */
export interface CurrentState {
  /** Position of the last event that was folded. */
  readonly position: number;
  /** Null when there is none. */
  readonly state: OrderState | UserState | null;
}

/** What may be handed over. */
export interface Passed {
  /** As the handler is to see it; null for nothing. */
  readonly transition: Transition | null;
  readonly current: CurrentState;
}

export interface ReleaseGateParts {
  readonly driver: Driver;
  /** Name of the subscription. */
  readonly name: string;
  /** @default {that of the ledger's environment} */
  readonly assets?: AssetTable;
  /** Statements that begin each write. */
  readonly guard: () => readonly Statement[];
  /** Whether the subscription takes `order.release.yes`. */
  readonly takesYes: boolean;
  readonly matches: (transition: Transition) => boolean;
}

/** What became of the `yes` of an order at a subscription. */
interface Handed {
  readonly state: "begun" | "taken" | "parked" | "stopped";
  readonly yes: LoggedTransition;
}

interface Seen {
  readonly handed: Handed | null;
  readonly current: CurrentState;
}

interface Asked {
  readonly no: number;
  /** Place of the `yes` to begin; null to look only. */
  readonly seq: number | null;
}

/**
 * Decides what is handed over: a `yes` that was withdrawn meanwhile is parked, and
 * handed over under its own key once the order is released again. A withdrawal says
 * that it takes back a `yes` to the handlers that were called with it.
 */
export class ReleaseGate {
  readonly #parts: ReleaseGateParts;
  readonly #ask: (asked: Asked) => Promise<Seen>;
  readonly #look: (wanted: LoggedTransition) => Promise<CurrentState>;

  constructor(parts: ReleaseGateParts) {
    this.#parts = parts;
    this.#ask = grouped((asked: readonly Asked[]) => this.#begin(asked));
    this.#look = grouped((wanted: readonly LoggedTransition[]) =>
      this.#read(wanted)
    );
  }

  /** What to hand over in place of a transition. */
  async pass(transition: LoggedTransition): Promise<Passed> {
    const { logged, no, seq } = transition;
    const { takesYes, matches } = this.#parts;
    if (logged === null || !takesYes) {
      return { transition, current: await this.#look(transition) };
    }
    if (logged.entered === "yes") {
      return begun(transition, await this.#ask({ no, seq }));
    }
    const { handed, current } = await this.#ask({ no, seq: null });
    if (logged.entered !== "restored") {
      const wasCalled = handed !== null && handed.state !== "parked";
      const reverses = wasCalled ? transition.reverses : [];
      return { transition: { ...transition, reverses }, current };
    }
    if (handed !== null && handed.state !== "taken") {
      return begun(handed.yes, await this.#ask({ no, seq: handed.yes.seq }));
    }
    return { transition: matches(transition) ? transition : null, current };
  }

  async #begin(group: readonly Asked[]): Promise<(asked: Asked) => Seen> {
    const { driver, name, guard, assets } = this.#parts;
    const nos = group.map(({ no }) => no);
    const yes = group.flatMap(({ no, seq }) => seq === null ? [] : [[no, seq]]);
    const results = await driver.batch([
      ...guard(),
      ...yes.length === 0
        ? []
        : [{ sql: BEGIN, args: [name, JSON.stringify(yes)] }],
      {
        sql: `SELECT h.state, ${
          TRANSITIONS.replace(
            "FROM log AS t",
            "FROM handed AS h JOIN log AS t ON t.seq = h.seq",
          )
        } WHERE h.name = ? AND h.no IN (SELECT value FROM json_each(?))`,
        args: [name, listed(nos)],
      },
      ...stateStatements(nos),
    ], "write");
    const handed = new Map(
      results.at(-4)?.rows.map(([state, ...row]) => {
        const yes = transitionOf(row);
        return [yes.no, { state: state as Handed["state"], yes }];
      }),
    );
    const stateOf = statesOf(results.slice(-3), assets);
    return ({ no }) => ({
      handed: handed.get(no) ?? null,
      current: stateOf(no),
    });
  }

  async #read(
    wanted: readonly LoggedTransition[],
  ): Promise<(one: LoggedTransition) => CurrentState> {
    const { driver, assets } = this.#parts;
    const statements = stateStatements(wanted.map(({ no }) => no));
    const position = Math.max(...wanted.map((one) => one.position));
    let found = await driver.batch(statements, "read");
    // A replica may be behind the outbox that the transitions are from.
    if (Number(found[0]?.rows[0]?.[0] ?? 0) < position) {
      found = await driver.batch(statements, "write");
    }
    const stateOf = statesOf(found, assets);
    return ({ no }) => stateOf(no);
  }
}

/** A `yes` is handed over where it was marked as begun. */
function begun(yes: Transition, { handed, current }: Seen): Passed {
  return { transition: handed?.state === "begun" ? yes : null, current };
}

/**
 * Marks each `yes` as begun if its order is still released, else as parked. One statement, so that no withdrawal comes between the look and the mark.
 */
const BEGIN = `INSERT INTO handed (no, name, seq, state)
  SELECT o.no, ?1, w.value ->> 1,
    CASE WHEN o.told ->> '$.release.last.release' = 'yes' THEN 'begun' ELSE 'parked' END
  FROM json_each(?2) AS w CROSS JOIN orders AS o ON o.no = w.value ->> 0
  WHERE true ON CONFLICT (no, name) DO UPDATE SET seq = excluded.seq,
    state = CASE WHEN excluded.state = 'parked' AND state <> 'parked'
      THEN 'stopped' ELSE excluded.state END`;

function stateStatements(nos: readonly number[]): Statement[] {
  const args = [listed(nos)];
  return [
    { sql: "SELECT position, environment FROM ledger", args: [] },
    {
      sql: `SELECT r.no, ${ORDER_COLUMNS} FROM orders AS r
        WHERE r.no IN (SELECT value FROM json_each(?))`,
      args,
    },
    {
      sql: `SELECT no, id, fold FROM users
        WHERE no IN (SELECT value FROM json_each(?))`,
      args,
    },
  ];
}

/** The table of assets of an environment that says nothing else. */
export function assetsOf(environment: string): AssetTable {
  return environment === "sandbox" ? "sandbox" : "production";
}

/** Worked out for each that asked: a handler may change what it is given. */
function statesOf(
  [at, orders, users]: readonly ResultSet[],
  given: AssetTable | undefined,
): (no: number) => CurrentState {
  const [found, environment] = at?.rows[0] ?? [];
  const position = Number(found ?? 0);
  const assets = given ?? assetsOf(String(environment));
  const orderRows = new Map(orders?.rows.map((row) => [row[0], row]));
  const userRows = new Map(users?.rows.map((row) => [row[0], row]));
  return (no) => {
    const order = orderRows.get(no);
    const user = userRows.get(no);
    if (order !== undefined) {
      const { context: _context, activity: _activity, ...state } = orderOfRow(
        order.slice(1),
        assets,
      ).order;
      return { position, state };
    }
    return {
      position,
      state: user === undefined
        ? null
        : userState(unpackUser(String(user[1]), String(user[2]))),
    };
  };
}

/**
 * Whether an order or user still shows what a transition says it entered; of a
 * release, whether it is still decided so.
 */
export function isCurrent(
  { machine, status, trust, logged }: Pick<
    Transition,
    "machine" | "status" | "trust" | "logged"
  >,
  state: CurrentState["state"],
): boolean {
  if (state === null) return false;
  if (machine === "lkyc" || machine === "fkyc") {
    return "verification" in state && state.verification[machine] === status &&
      state.verificationTrust[machine] === trust;
  }
  if (logged !== null) {
    return "release" in state && state.release === logged.release;
  }
  if (machine === "witness") {
    return "witness" in state && state.witness?.verdict === status;
  }
  if (machine === "ban") {
    return "banned" in state && state.banned !== null &&
      state.banned === (status === "banned");
  }
  return state.status === status && state.trust === trust;
}
