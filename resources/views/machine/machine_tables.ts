import type { Decision, Machine, Move } from "../../../ledger/for_resources.ts";
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

const NONE = "none";

function shownState(state: string): string {
  return state === "unlisted" ? "any other" : state;
}

function movesOf(
  { moves }: Machine,
): Readonly<Record<string, Readonly<Record<string, Move>>>> {
  return moves;
}
