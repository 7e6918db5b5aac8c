import type {
  Decision,
  Machine,
  Move,
  StateRow,
} from "../../../ledger/for_resources.ts";
import type { WordTable } from "../table.ts";
import {
  describeContribution,
  describeDecision,
  describeMeaning,
  describeMoveKind,
  observationWords,
} from "../../wording/machine.ts";

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

/** An arrow of the diagram. */
export interface Arrow {
  /** State of a reading. */
  readonly from: string;
  /** State of the next. */
  readonly to: string;
  /** The anomaly that it raises; null for a usual move. */
  readonly anomaly: string | null;
}

/**
 * The arrows of the diagram: usual moves of one step, and unusual ones between
 * documented states. A usual move is left out where others make the same way,
 * over a state that ranks between.
 */
export function arrowsOf(machine: Machine): Arrow[] {
  const moves = movesOf(machine);
  const states = Object.keys(machine.states);
  const rank = (state: string) =>
    Object.entries<StateRow>(machine.states)
      .find(([name]) => name === state)?.[1].rank ?? 0;
  const usual = (from: string, to: string) =>
    moves[from]?.[to]?.kind === "usual";
  return states.flatMap((from) =>
    states.flatMap((to) => {
      const move = moves[from]?.[to];
      const leadsOver = states.some((over) =>
        isBetween(rank(from), rank(over), rank(to)) &&
        usual(from, over) && usual(over, to)
      );
      return move?.kind === "unusual" || (move?.kind === "usual" && !leadsOver)
        ? [{ from, to, anomaly: move.anomaly }]
        : [];
    })
  );
}

function isBetween(from: number, over: number, to: number): boolean {
  return from < to ? from < over && over < to : to < over && over < from;
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
