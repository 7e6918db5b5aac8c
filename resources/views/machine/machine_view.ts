import {
  ATTENTION_KINDS,
  type Decision,
  FACT_VALUES,
  type FactCondition,
  type Machine,
  type Move,
  type Observation,
  OUTCOME_TABLE,
  type OutcomeFacts,
  type OutcomeRow,
  type StateRow,
} from "../../../ledger/for_resources.ts";
import { drawTable, type WordTable, wrap } from "../text.ts";
import {
  describeContribution,
  describeDecision,
  describeMeaning,
  describeMoveKind,
  observationWords,
} from "../../wording/machine.ts";
import { reconcileWords } from "../../wording/reconcile.ts";
import { ATTENTION, FACTS, OUTCOME_WORDS } from "../../wording/outcome.ts";
import type { ReconcileCategory, ReconcileFlag } from "../../../sync/mod.ts";
import { RELEASE, RELEASE_REASON } from "../../wording/release.ts";

/** The states, with rank, whether they are final, and what they mean. */
export function statesTable({ states, unlisted }: Machine): WordTable {
  const all = [...Object.entries(states), ["any other", unlisted] as const];
  return {
    head: ["State", "Rank", "Final", "Means"],
    rows: all.map(([state, { rank, final, meaning }]) => [
      state,
      String(rank),
      final ? "yes" : "no",
      describeMeaning(meaning),
    ]),
  };
}

/** What each event contributes, of those that contribute something. */
export function eventsTable({ webhooks, observations }: Machine): WordTable {
  const rows: string[][] = [];
  for (const [type, claimed] of Object.entries(webhooks)) {
    if (claimed !== null) {
      rows.push([type, `claims ${describeContribution(claimed)}`]);
    }
  }
  for (const [kind, observed] of Object.entries(observations)) {
    if (observed !== null) rows.push([kind, observationWords[observed]]);
  }
  return { head: ["Event", "Contributes"], rows };
}

/** The events that contribute nothing, in one sentence. */
export function otherEvents({ webhooks, observations }: Machine): string {
  const others = [...Object.entries(webhooks), ...Object.entries(observations)]
    .filter(([, contributes]) => contributes === null)
    .map(([event]) => event);
  return `Other events contribute nothing: ${others.join(", ")}.`;
}

/** What the latest reading (A) and the highest claim (W) make. */
export function decisionsTable({ decisions, initial }: Machine): WordTable {
  const readings = Object.entries<Readonly<Record<string, Decision>>>(
    decisions,
  );
  const claims = Object.keys(readings[0]?.[1] ?? {});
  return {
    head: [
      "A \\ W",
      ...claims.map((claim) => claim === "none" ? NONE : shownState(claim)),
    ],
    rows: readings.map(([read, row]) => [
      read === "none" ? NONE : shownState(read),
      ...claims.map((claimed) =>
        describeDecision(row[claimed] ?? "reading", {
          initial,
          read: read === "unlisted" ? "A" : read,
          claimed: claimed === "unlisted" ? "W" : claimed,
        })
      ),
    ]),
  };
}

/** How readings follow each other. */
export function movesTable(machine: Machine): WordTable {
  const moves = movesOf(machine);
  const states = Object.keys(moves);
  return {
    head: ["From \\ to", ...states.map(shownState)],
    rows: states.map((from) => [
      shownState(from),
      ...states.map((to) => {
        const move = moves[from]?.[to];
        return move === undefined ? "" : describeMoveKind(move);
      }),
    ]),
  };
}

const NONE = "none";

function shownState(state: string): string {
  return state === "unlisted" ? "any other" : state;
}

function movesOf(
  { moves }: Machine,
): Readonly<Record<string, Readonly<Record<string, Move>>>> {
  return moves;
}

/** What a row of the table of outcomes may ask. */
export function factsTable(): WordTable {
  return {
    head: ["Fact", "Values", "What it is"],
    rows: factNames().map((fact) => [
      quoted(fact),
      FACT_VALUES[fact].map(quoted).join(", "),
      FACTS[fact],
    ]),
  };
}

/** The table of outcomes. */
export function outcomesTable(): WordTable {
  return {
    head: ["Outcome", "When", "Release", "Reason", "Attention", "Booked"],
    rows: OUTCOME_TABLE.map((
      { code, when, release, reason, attention, booked },
    ) => [
      quoted(code),
      conditionText(when),
      quoted(release),
      quoted(reason),
      attention === null ? "-" : quoted(attention),
      quoted(booked),
    ]),
  };
}

/** What to do about each outcome, and what to tell the customer. */
export function adviceTable(): WordTable {
  return {
    head: ["Outcome", "Next step", "What to tell the customer"],
    rows: OUTCOME_TABLE.map(({ code }) => [
      quoted(code),
      OUTCOME_WORDS[code].next,
      OUTCOME_WORDS[code].customer,
    ]),
  };
}

/** What each finding of `reconcile` means, and what to do. */
export function reconcileTable(
  findings: readonly (ReconcileCategory | ReconcileFlag)[],
): WordTable {
  return {
    head: ["Finding", "What it means", "What to do"],
    rows: findings.map((found) => {
      const { meaning, next } = reconcileWords(found);
      return [quoted(found), meaning, next];
    }),
  };
}

/** What each kind of attention means. */
export function attentionTable(): WordTable {
  return {
    head: ["Kind", "What it means"],
    rows: ATTENTION_KINDS.map((kind) => [quoted(kind), ATTENTION[kind]]),
  };
}

/** What each release means, for each of its reasons. */
export function releaseTable(): WordTable {
  const pairs = new Map(
    OUTCOME_TABLE.map(({ release, reason }) =>
      [`${release} ${reason}`, { release, reason }] as const
    ),
  );
  const order = Object.keys(RELEASE);
  return {
    head: ["Release", "Reason", "What it means"],
    rows: [...pairs.values()].sort((a, b) =>
      order.indexOf(a.release) - order.indexOf(b.release)
    ).map(({ release, reason }) => [
      quoted(release),
      quoted(reason),
      RELEASE_REASON[reason],
    ]),
  };
}

/** When a row applies, in words. */
function conditionText(when: FactCondition): string {
  return factNames().flatMap((fact) => {
    const wanted: readonly string[] | undefined = when[fact];
    if (wanted === undefined) return [];
    const others = FACT_VALUES[fact].filter((one) => !wanted.includes(one));
    return others.length === 1 && wanted.length > 2
      ? [`${fact} is not ${others[0]}`]
      : [`${fact} is ${wanted.join(" or ")}`];
  }).join(", ");
}

function factNames(): (keyof OutcomeFacts)[] {
  return Object.keys(FACT_VALUES) as (keyof OutcomeFacts)[];
}

function quoted(code: string): string {
  return `\`${code}\``;
}

/** A machine as tables. */
export function machineLines(
  machine: Machine,
  columns: number | null,
): string[] {
  const draw = (table: WordTable) => tableLines(table, columns);
  return [
    `The state machine "${machine.name}":`,
    "",
    ...draw(statesTable(machine)),
    "",
    ...draw(eventsTable(machine)),
    ...wrap(otherEvents(machine), columns, 2).split("\n"),
    "",
    "The latest reading (A) and the highest claim that counts (W) make:",
    "",
    ...draw(decisionsTable(machine)),
    "",
    "Readings that follow each other in the service's own history:",
    "",
    ...draw(movesTable(machine)),
  ];
}

/** The table of outcomes of orders, as text. */
export function outcomeLines(columns: number | null): string[] {
  return [
    ...wrap(
      "Outcomes of an order: the first row that applies counts, and says " +
        "whether to release.",
      columns,
      0,
    ).split("\n"),
    "",
    ...outcomesTable().rows.flatMap(
      ([code, when, release, reason, attention, booked]) => {
        const waits = attention === "-" ? "" : `, attention ${attention}`;
        return [
          `${code}: ${release}, ${reason}${waits}, books ${booked}`,
          `  when ${when}`,
        ].flatMap((line) =>
          wrap(line.replaceAll("`", ""), columns, 4).split("\n")
        );
      },
    ),
  ];
}

function tableLines(table: WordTable, columns: number | null): string[] {
  return blocksOf(table, columns).flatMap(({ head, rows }, block) => [
    ...(block > 0 ? [""] : []),
    ...drawTable(
      head.map((title) => ({ title, whole: true })),
      rows,
      columns,
    ).split("\n"),
  ]);
}

/**
 * Cuts a table that is wider than the terminal into blocks below each other,
 * each with the first column: no cell of a table of rules may be left out.
 */
function blocksOf(
  { head, rows }: WordTable,
  columns: number | null,
): WordTable[] {
  const widthOf = (column: number) =>
    Math.max(...[head, ...rows].map((row) => (row[column] ?? "").length));
  const blocks: number[][] = [];
  let left = -1;
  for (let column = 1; column < head.length; column++) {
    const width = widthOf(column) + GAP;
    if (blocks.length === 0 || width > left) {
      blocks.push([]);
      left = (columns ?? Infinity) - widthOf(0);
    }
    blocks.at(-1)?.push(column);
    left -= width;
  }
  return blocks.map((block) => {
    const pick = (row: readonly string[]) =>
      [0, ...block].map((column) => row[column] ?? "");
    return { head: pick(head), rows: rows.map(pick) };
  });
}

/** Spaces between two columns. */
const GAP = 2;

/** The state machines of orders, of users, or of both. */
export interface MachinesJson {
  /** The machines. */
  readonly machines: readonly MachineJson[];
  /** The table of outcomes; empty of users alone. */
  readonly outcomes: readonly OutcomeRowJson[];
}

/**
 * A state machine as data: its states, and tables by state, event, reading and
 * claim.
 */
export interface MachineJson extends Pick<Machine, "name" | "initial"> {
  /** Its states, from the lowest. */
  readonly states: Readonly<Record<string, StateJson>>;
  /** A state that the service adds later. */
  readonly unlisted: StateJson;
  /** What each type of webhook contributes. */
  readonly webhooks: Readonly<Record<string, string | null>>;
  /** What each other kind of event contributes. */
  readonly observations: Readonly<Record<string, Observation>>;
  /** By the latest reading, then by a claim that counts. */
  readonly decisions: Table<Decision>;
  /** By a reading, then by the next one in the service's own history. */
  readonly moves: Table<Move>;
}

/** Cells by their row and their column. */
type Table<Cell> = Readonly<Record<string, Readonly<Record<string, Cell>>>>;

interface StateJson extends StateRow {
  /** What it means, in one sentence. */
  readonly message: string;
}

/** A machine as `--json` prints it. */
export function machineJson(machine: Machine): MachineJson {
  const worded = (row: StateRow) => ({
    ...row,
    message: describeMeaning(row.meaning),
  });
  return {
    ...machine,
    states: Object.fromEntries(
      Object.entries<StateRow>(machine.states).map(([state, row]) => [
        state,
        worded(row),
      ]),
    ),
    unlisted: worded(machine.unlisted),
  };
}

/** A row of the table of outcomes as `--json` prints it. */
interface OutcomeRowJson extends Omit<OutcomeRow, "when"> {
  /** Facts that have to hold, each with the values that it may have. */
  readonly when: readonly {
    readonly fact: keyof OutcomeFacts;
    readonly values: readonly string[];
  }[];
}

/** The table of outcomes as `--json` prints it. */
export function outcomesJson(): readonly OutcomeRowJson[] {
  return OUTCOME_TABLE.map((row) => ({
    ...row,
    when: Object.entries(row.when).map(([fact, values]) => ({
      fact: fact as keyof OutcomeFacts,
      values,
    })),
  }));
}
