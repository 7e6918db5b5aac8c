// Every short history of an order, for the test of its machine.
import type { RecordedEvent } from "../events/event.ts";
import type { Fact } from "../events/fact.ts";
import { readFact } from "../events/read_fact.ts";
import {
  absentRead,
  contradiction,
  orderRead,
  orderWebhook,
} from "../testing/given_facts.ts";
import type { Status } from "./transition.ts";
import type { ClaimedStatus, orderMachine } from "./machine.ts";

type OrderMachine = typeof orderMachine;

/** A status that is not documented. */
export const ODD = "on_hold";

/** Every status that a reading can show. */
export const STATUSES: readonly Status[] = [
  "created",
  "progress",
  "pending",
  "failed",
  "success",
  "cancelled",
  ODD,
];

/** What can happen next to an order. */
export type Step =
  | { readonly kind: "reads"; readonly status: Status }
  | { readonly kind: "claims"; readonly type: ClaimingType }
  | { readonly kind: "contradicts"; readonly status: ClaimedStatus }
  | { readonly kind: "absent" };

/** Type of a webhook that claims a status. */
export type ClaimingType =
  | "payment_started"
  | "transfer_started"
  | "order_complete"
  | "order_failed"
  | "order_cancelled";

const types: readonly ClaimingType[] = [
  "payment_started",
  "transfer_started",
  "order_complete",
  "order_failed",
  "order_cancelled",
];
const claimable: readonly ClaimedStatus[] = [
  "progress",
  "pending",
  "failed",
  "success",
  "cancelled",
];

const steps: readonly Step[] = [
  ...STATUSES.map((status) => ({ kind: "reads", status } as const)),
  ...types.map((type) => ({ kind: "claims", type } as const)),
  ...claimable.map((status) => ({ kind: "contradicts", status } as const)),
  { kind: "absent" },
];

/** Every history of one to `length` steps. */
export function* shortHistories(length: number): Generator<readonly Step[]> {
  for (const step of steps) {
    yield [step];
    if (length === 1) continue;
    for (const rest of shortHistories(length - 1)) yield [step, ...rest];
  }
}

/**
 * Reads each step once for every place that it can have in a history: one
 * event a minute, the service's times in order.
 *
 * @returns The facts of a history.
 */
export function factsReader(): (history: readonly Step[]) => Fact[] {
  const known: Map<Step, Fact>[] = [];
  return (history) =>
    history.map((step, place) => {
      const here = known[place] ??= new Map();
      const fact = here.get(step) ?? readFact(eventOf(step, place + 1));
      here.set(step, fact);
      return fact;
    });
}

const minted = new Map<string, RecordedEvent>();

function eventOf(step: Step, minute: number): RecordedEvent {
  const name = `${Object.values(step).join(" ")} ${minute}`;
  const event = minted.get(name) ?? mint(step, minute);
  minted.set(name, event);
  return event;
}

function mint(step: Step, minute: number): RecordedEvent {
  switch (step.kind) {
    case "reads":
      return orderRead(minute, step.status, minute);
    case "claims":
      return orderWebhook(minute, step.type);
    case "contradicts":
      return contradiction(step.status, minute);
    case "absent":
      return absentRead(minute);
  }
}

/** What a machine makes of a history, and the rows that say so. */
export interface Expected {
  /** Status and trust. */
  readonly status: string;
  /** Whether a claim contests the reading. */
  readonly contested: boolean;
  /** The anomaly of the service's own history. */
  readonly anomaly: string | null;
  /** The row that decides, and those that say more. */
  readonly rows: readonly string[];
}

/**
 * Reads what has to be true after a history from the tables alone, step by
 * step, without the fold.
 */
export function expectedOf(
  machine: OrderMachine,
  history: readonly Step[],
): Expected {
  const readings: Status[] = [];
  let claims: ClaimedStatus[] = [];
  const rows: string[] = [];
  for (const step of history) {
    if (step.kind === "reads") readings.push(step.status);
    else if (step.kind === "claims") {
      rows.push(`webhooks.${step.type}`);
      const claimed = machine.webhooks[step.type];
      if (claimed !== null) claims.push(claimed);
    } else if (step.kind === "contradicts") {
      claims = claims.filter((claimed) => claimed !== step.status);
    }
  }
  const counting = claims.filter((claimed) => !readings.includes(claimed));
  const rank = (claimed: ClaimedStatus) => machine.states[claimed].rank;
  const [w] = counting.toSorted((a, b) => rank(b) - rank(a));
  const a = readings.at(-1);
  const from = rowOf(machine, a);
  const to = w ?? "none";
  const code = machine.decisions[from][to];
  rows.push(`decisions.${from}.${to}`);
  const contesting = counting.filter((claimed) =>
    machine.decisions[from][claimed] === "reading_contested"
  );
  rows.push(...contesting.map((claimed) => `decisions.${from}.${claimed}`));
  return {
    status: code === "claim"
      ? `${w} claimed`
      : code === "initial"
      ? `${machine.initial} claimed`
      : `${a} confirmed`,
    contested: contesting.length > 0,
    ...expectedAnomaly(machine, readings, rows),
  };
}

function expectedAnomaly(
  machine: OrderMachine,
  readings: readonly Status[],
  rows: string[],
): Pick<Expected, "anomaly" | "rows"> {
  let anomaly: string | null = null;
  const latest = readings.at(-1);
  readings.forEach((before, place) => {
    for (const after of readings.slice(place + 1)) {
      if (before === after) continue;
      const from = known(machine, before);
      const to = known(machine, after);
      rows.push(`moves.${from}.${to}`);
      const raised = machine.moves[from][to].anomaly;
      if (raised === "final_changed" && after === latest) anomaly = raised;
      // An end that is left and reached again is only on the way.
      else if (anomaly === null && raised !== null && to !== "unlisted") {
        anomaly = "regression";
      }
    }
  });
  return { anomaly, rows };
}

function known(
  machine: OrderMachine,
  status: Status,
): keyof OrderMachine["moves"] {
  return status in machine.states
    ? status as keyof OrderMachine["states"]
    : "unlisted";
}

function rowOf(
  machine: OrderMachine,
  status: Status | undefined,
): keyof OrderMachine["decisions"] {
  return status === undefined ? "none" : known(machine, status);
}
