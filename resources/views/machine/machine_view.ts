import {
  type Decision,
  type Machine,
  type Move,
  type Observation,
  OUTCOME_TABLE,
  type OutcomeFacts,
  type OutcomeRow,
  type StateRow,
} from "../../../ledger/for_resources.ts";
import { describeMeaning } from "../../wording/machine.ts";
import {
  decisionsTable,
  eventsTable,
  movesTable,
  otherEvents,
  statesTable,
} from "./machine_tables.ts";
import type { WordTable } from "../table.ts";
import { drawTable } from "../table.ts";
import { outcomesTable } from "./outcome_tables.ts";
import { wrap } from "../text.ts";

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
export interface OutcomeRowJson extends Omit<OutcomeRow, "when"> {
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
