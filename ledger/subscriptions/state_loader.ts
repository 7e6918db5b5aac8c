import { grouped } from "../../core/waiting/grouped.ts";
import type { OrderState } from "../states/order_state.ts";
import {
  ENTITIES,
  type Entity,
  type Transition,
} from "../machines/transition.ts";
import type { UserState } from "../users/user_state.ts";
import { besideOthers } from "../attention/attention.ts";
import { readOrderState } from "../projection/codec/stored_state.ts";
import type { Driver, ResultSet, Statement } from "../store/driver/driver.ts";
import {
  selectLivePosition,
  selectStates,
} from "../store/tables/lists/state_pages.ts";

/** An order or user as it is now. */
export interface CurrentState {
  /** Position of the last event that was folded. */
  readonly position: number;
  /** The state; null when there is none. */
  readonly state: OrderState | UserState | null;
}

type Wanted = Pick<Transition, "entity" | "id" | "position">;

interface StateRow {
  readonly text: string;
  /** Whether another order holds the purchase of this one. */
  readonly isTwice: boolean;
}

/**
 * Reads states in groups: what is asked for while a read is under way is read
 * together by the next one.
 */
export class StateLoader {
  readonly #driver: Driver;
  readonly #ask: (wanted: Wanted) => Promise<CurrentState>;

  /** @param driver The database. */
  constructor(driver: Driver) {
    this.#driver = driver;
    this.#ask = grouped((wanted: readonly Wanted[]) => this.#readAll(wanted));
  }

  /**
   * Reads the state in which the order or user of a transition is now: it may
   * have moved on since.
   *
   * @param wanted The transition.
   * @returns A state that has the transition's event in it.
   * @throws {LedgerError} When the database fails.
   */
  load(wanted: Wanted): Promise<CurrentState> {
    return this.#ask(wanted);
  }

  async #readAll(
    wanted: readonly Wanted[],
  ): Promise<(one: Wanted) => CurrentState> {
    const position = Math.max(...wanted.map((one) => one.position));
    let read = await this.#read(wanted, "read");
    // A replica may be behind the log that the transitions are from.
    if (read.position < position) read = await this.#read(wanted, "write");
    return (one) => ({ position: read.position, state: read.stateOf(one) });
  }

  async #read(
    wanted: readonly Wanted[],
    mode: "read" | "write",
  ): Promise<FoundStates> {
    const statements = stateStatements(wanted);
    return foundStates(wanted, await this.#driver.batch(statements, mode));
  }
}

/** States as they were found together. */
export interface FoundStates {
  /** Position of the last event that was folded. */
  readonly position: number;
  /** The state of one of them; null when there is none. */
  readonly stateOf: (
    wanted: Pick<Wanted, "entity" | "id">,
  ) => CurrentState["state"];
}

/** Ids of orders and of users, each once. */
function idsOf(wanted: readonly Pick<Wanted, "entity" | "id">[]) {
  return ENTITIES.flatMap((entity) => {
    const ids = wanted.filter((one) => one.entity === entity)
      .map(({ id }) => id);
    return ids.length === 0 ? [] : [{ entity, ids: [...new Set(ids)] }];
  });
}

/** The statements that read states as they are now. */
export function stateStatements(
  wanted: readonly Pick<Wanted, "entity" | "id">[],
): Statement[] {
  return [
    selectLivePosition,
    ...idsOf(wanted).map(({ entity, ids }) => selectStates(entity, ids)),
  ];
}

/** Reads the answers of {@linkcode stateStatements}. */
export function foundStates(
  wanted: readonly Pick<Wanted, "entity" | "id">[],
  [at, ...found]: readonly ResultSet[],
): FoundStates {
  const states = new Map<string, StateRow>();
  for (const [place, { entity }] of idsOf(wanted).entries()) {
    for (const [id, text, twice] of found[place]?.rows ?? []) {
      const isTwice = entity === "order" && twice === 1;
      states.set(`${entity}:${id}`, { text: text as string, isTwice });
    }
  }
  return {
    position: Number(at?.rows[0]?.[0] ?? 0),
    stateOf: ({ entity, id }) => {
      const row = states.get(`${entity}:${id}`);
      return row === undefined ? null : parsedState(entity, row);
    },
  };
}

/** Parsed for each that asked: a handler may change what it is given. */
function parsedState(
  entity: Entity,
  { text, isTwice }: StateRow,
): OrderState | UserState {
  return entity === "order"
    ? besideOthers(readOrderState(text), isTwice)
    : JSON.parse(text);
}

/**
 * Whether an order or user still shows what a transition says it entered; of a
 * release, whether it is still decided so.
 *
 * @param transition What was entered.
 * @param state The order or user as it is now; null when there is none.
 */
export function isCurrent(
  { machine, status, trust, logged }: Pick<
    Transition,
    "machine" | "status" | "trust" | "logged"
  >,
  state: OrderState | UserState | null,
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
