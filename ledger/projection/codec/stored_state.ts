import { FACT_FIELDS, type OrderFacts } from "../../events/order_facts.ts";
import { initialOrderFold } from "../../orders/order_fold.ts";
import { FACT_VALUES, type StoredFacts } from "../../outcomes/outcome_facts.ts";
import type { OrderState } from "../../states/order_state.ts";
import { orderState } from "../../states/state_of_order.ts";
import { STATE_COLUMNS } from "../../store/tables/orders.ts";

/** What fields say that are left out, beside what is null, false or empty. */
const UNSAID: Readonly<Record<string, unknown>> = { booked: "nothing" };

type Fields = Record<string, unknown>;
type Side = NonNullable<OrderState["claimed"]>;

/** A state that says nothing has every field, in the order of all states. */
export const EMPTY_STATE: OrderState = orderState(initialOrderFold(""));

/** Facts that are left out: the first value of each. */
const FIRST_FACTS = Object.fromEntries(
  (Object.keys(EMPTY_STATE.facts) as (keyof StoredFacts)[]).map((fact) => [
    fact,
    FACT_VALUES[fact][0],
  ]),
) as Record<keyof StoredFacts, string>;

/** Objects of which each field is left out where it says this. */
const PARTS = {
  facts: FIRST_FACTS,
  fees: EMPTY_STATE.fees,
  smartContract: EMPTY_STATE.smartContract,
} as const;

const PART_FIELDS = Object.keys(PARTS) as (keyof typeof PARTS)[];

/** Fields that are neither columns nor written in another way. */
const REST = (Object.keys(EMPTY_STATE) as (keyof OrderState)[]).filter((
  field,
) =>
  !(STATE_COLUMNS as readonly string[]).includes(field) &&
  !Object.hasOwn(PARTS, field) &&
  !["history", "claimed", "confirmed"].includes(field)
);

/**
 * The state of an order as its row holds it: about a third of its JSON. It
 * leaves out what columns of the row say, and what is null, false or empty.
 * What webhooks claim and what a reading shows is mostly what the state says
 * itself, so that only what differs is written.
 *
 * Names stay, and what is left out never depends on the version, so that any
 * version reads what another one wrote.
 *
 * @param state State of the order.
 * @returns JSON; with the columns {@linkcode readOrderState} reads it.
 */
export function storeOrderState(state: OrderState): string {
  const stored: Fields = {};
  for (const field of REST) {
    const value = state[field];
    if (value === null || value === false || value === UNSAID[field]) continue;
    if (Array.isArray(value) && value.length === 0) continue;
    stored[field] = value;
  }
  for (const part of PART_FIELDS) {
    const different = differing(state[part], PARTS[part]);
    if (different !== null) stored[part] = different;
  }
  if (state.history.length > 0) {
    const history: Record<string, string[]> = {};
    for (const { source, status } of state.history) {
      (history[source] ??= []).push(status);
    }
    stored["history"] = history;
  }
  if (state.claimed !== null) {
    const { status, ...claimed } = packSide(state.claimed, state);
    stored["claimed"] = status === state.status
      ? claimed
      : { status, ...claimed };
  }
  if (state.confirmed !== null) {
    stored["confirmed"] = packSide(state.confirmed, state);
  }
  return JSON.stringify(stored);
}

/**
 * Reads the state of an order.
 *
 * @param text Columns and state of a row, as `orderStateSql` selects them.
 * @returns The state, with fixed key order.
 */
export function readOrderState(text: string): OrderState {
  const [columns, stored] = JSON.parse(text) as [readonly unknown[], Fields];
  // What version 1 of the schema stored said everything.
  if ("orderId" in stored) return stored as unknown as OrderState;
  // New lists: whoever reads a state may change it.
  const state: Fields = {
    ...EMPTY_STATE,
    ...UNSAID,
    sessions: [],
    uncompared: [],
    anomalies: [],
  };
  for (const field in stored) state[field] = stored[field];
  for (let place = 0; place < STATE_COLUMNS.length; place++) {
    state[STATE_COLUMNS[place] as string] = columns[place];
  }
  state["attention"] = listOf(state["attention"] as string | null);
  for (const part of PART_FIELDS) {
    state[part] = { ...PARTS[part], ...stored[part] as Fields };
  }
  state["history"] = Object.entries(stored["history"] ?? {}).flatMap(
    ([source, statuses]) =>
      (statuses as string[]).map((status) => ({ source, status })),
  );
  const facts = state as unknown as OrderState;
  for (const side of ["claimed", "confirmed"]) {
    const packed = stored[side] as Fields | undefined;
    state[side] = packed === undefined ? null : unpackSide(packed, facts);
  }
  return state as unknown as OrderState;
}

/**
 * Names between spaces, so that a column tells one of them by ` name `.
 *
 * @param names The names; null is stored of none.
 */
export function spaced(names: readonly string[]): string | null {
  return names.length === 0 ? null : ` ${[...new Set(names)].join(" ")} `;
}

function listOf(spaced: string | null): string[] {
  return spaced === null ? [] : spaced.trim().split(" ");
}

/** The fields that differ; null where none does. Empty lists are the same. */
function differing<Value extends object>(
  value: Value,
  from: { readonly [Field in keyof Value]: unknown },
): Fields | null {
  let different: Fields | null = null;
  for (const field in value) {
    const one = value[field];
    if (one === from[field] || (Array.isArray(one) && one.length === 0)) {
      continue;
    }
    (different ??= {})[field] = one;
  }
  return different;
}

function packSide(side: Side, state: OrderFacts): Fields {
  const packed: Fields = { status: side.status };
  for (const field of FACT_FIELDS) {
    if (side[field] !== state[field]) packed[field] = side[field];
  }
  return packed;
}

function unpackSide(
  packed: Fields,
  state: OrderFacts & Pick<OrderState, "status">,
): Side {
  const side: Fields = {};
  for (const field of FACT_FIELDS) {
    side[field] = field in packed ? packed[field] : state[field];
  }
  side["status"] = packed["status"] ?? state.status;
  return side as unknown as Side;
}
