import { besideOthers } from "../attention/attention.ts";
import { readOrderState } from "../projection/codec/stored_state.ts";
import {
  ENTITIES,
  type Entity,
  type Transition,
} from "../machines/transition.ts";
import type { OrderState } from "../states/order_state.ts";
import type { UserState } from "../users/user_state.ts";
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

interface Waiting {
  readonly wanted: Wanted;
  readonly resolve: (state: CurrentState) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Reads states in groups: what is asked for while a read is under way is read
 * together by the next one.
 */
export class StateLoader {
  readonly #driver: Driver;
  #waiting: Waiting[] = [];
  #reading = false;

  /** @param driver The database. */
  constructor(driver: Driver) {
    this.#driver = driver;
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
    return new Promise((resolve, reject) => {
      this.#waiting.push({ wanted, resolve, reject });
      if (!this.#reading) void this.#readAll();
    });
  }

  async #readAll(): Promise<void> {
    this.#reading = true;
    // Loads asked for in this turn are read together with the first.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0);
      try {
        const wanted = group.map((one) => one.wanted);
        const position = Math.max(...wanted.map((one) => one.position));
        let read = await this.#read(wanted, "read");
        // A replica may be behind the log that the transitions are from.
        if (read.position < position) read = await this.#read(wanted, "write");
        for (const { wanted, resolve } of group) {
          resolve({ position: read.position, state: read.stateOf(wanted) });
        }
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.#reading = false;
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
