import { closest } from "../../core/closest.ts";
import type { OrderStatus } from "../../core/wire/order.ts";
import {
  RELEASE_ENTRIES,
  type ReleaseEntry,
  type Transition,
  transitionName,
  type Trust,
} from "./transition.ts";
import { banMachine, type BanName } from "./user_machines.ts";
import { orderMachine } from "./order_machine.ts";
import { lkycMachine, type VerificationName } from "./user_machines.ts";
import { type Verdict, VERDICTS } from "../../core/chain/verdict.ts";

/**
 * A pattern of transitions, composed of the states of the machines:
 * `order.release.ENTRY`, `order.witness.VERDICT`, `order.TRUST.STATUS` or
 * `user.MACHINE.TRUST.STATUS`, each part but the first a word or `*`; or `*`
 * alone. For example `order.release.yes`, `order.confirmed.success`,
 * `order.*.failed`, `user.fkyc.confirmed.retry`, `user.ban.confirmed.banned`.
 * No `*` in place of a trust stands for `release` or `witness`.
 *
 * A status that this version does not know goes through
 * {@linkcode unlisted}.
 */
export type TransitionPattern =
  | "*"
  | `order.release.${ReleaseEntry | "*"}`
  | `order.witness.${Verdict | "*"}`
  | `order.${Trust | "*"}.${OrderStatus | "*"}`
  | `user.${"lkyc" | "fkyc"}.${Trust | "*"}.${VerificationName | "*"}`
  | `user.ban.${"confirmed" | "*"}.${BanName | "*"}`
  | `user.*.${Trust | "*"}.${VerificationName | "*"}`
  | `user.*.${"confirmed" | "*"}.${BanName}`;

/** A pattern whose status this version does not know. */
export interface UnlistedPattern {
  /** The pattern, as {@linkcode TransitionPattern} but for its status. */
  readonly unlisted: string;
}

/** What of a transition a pattern is compared with. */
export type Matchable = Pick<
  Transition,
  "entity" | "machine" | "trust" | "status" | "logged"
>;

/** What a subscription can receive. */
export type Pattern = TransitionPattern | UnlistedPattern;

/**
 * A pattern with a status that the service has added since this version. A
 * misspelt status is not noticed here.
 *
 * @param pattern For example `order.confirmed.on_hold`.
 * @returns The pattern, to be passed in `on`.
 * @throws {TypeError} When entity, machine or trust is wrong.
 *
 * @example Subscribe to a status that is not documented
 * ```ts
 * import { unlisted } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * const on = ["order.confirmed.success", unlisted("order.confirmed.on_hold")];
 * assert.equal(on.length, 2);
 * assert.throws(() => unlisted("order.confirmd.on_hold"), TypeError);
 * ```
 */
export function unlisted(pattern: string): UnlistedPattern {
  parsePattern(pattern);
  return Object.freeze({ unlisted: pattern });
}

/** A pattern as text. */
export function patternText(pattern: Pattern): string {
  return typeof pattern === "string" ? pattern : pattern.unlisted;
}

/**
 * Makes a predicate of patterns.
 *
 * @param on One pattern or several; any of them may match.
 * @throws {TypeError} When a pattern is none, and names the closest; or when
 * there is none.
 */
export function matcher(
  on: Pattern | readonly Pattern[],
): (transition: Matchable) => boolean {
  const patterns = [on].flat().map((pattern) => {
    const text = patternText(pattern);
    if (typeof pattern === "string" && !listed().has(text)) refuse(text);
    return parsePattern(text);
  });
  if (patterns.length === 0) {
    throw new TypeError("Cannot subscribe to nothing: `on` is empty");
  }
  return (transition) => {
    const name = transitionName({ ...transition, id: "", entry: 1 });
    return patterns.some(([entity, machine, trust, status]) =>
      (entity === "*" || entity === name.entity) &&
      (machine === "*" || machine === name.machine) &&
      (trust === "*" || trust === name.trust) &&
      (status === "*" || status === name.status)
    );
  };
}

type Parsed = readonly [
  entity: string,
  machine: string,
  trust: string,
  status: string,
];

function parsePattern(pattern: string): Parsed {
  if (pattern === "*") return ["*", "*", "*", "*"];
  // A status not known here may hold dots, so all after the trust is status.
  const [, release] = /^order\.release\.(.+)$/s.exec(pattern) ?? [];
  if (release !== undefined) {
    const isEntry = ["*", ...RELEASE_ENTRIES].includes(release);
    return isEntry ? ["order", "release", "release", release] : refuse(pattern);
  }
  const [, verdict] = /^order\.witness\.(.+)$/s.exec(pattern) ?? [];
  if (verdict !== undefined) {
    return ["*", ...VERDICTS].includes(verdict)
      ? ["order", "witness", "witness", verdict]
      : refuse(pattern);
  }
  const [, order, machine, trust, status] =
    /^(?:(order)|user\.(\*|lkyc|fkyc|ban))\.(\*|claimed|confirmed)\.(.+)$/s
      .exec(pattern) ?? [];
  if (trust === undefined || status === undefined) refuse(pattern);
  return order === undefined
    ? ["user", machine ?? "*", trust, status]
    : ["order", "order", trust, status];
}

function refuse(pattern: string): never {
  throw new TypeError(
    `Wrong pattern: ${JSON.stringify(pattern)}; the closest is ` +
      `"${closest(pattern, listed())}"; a status that this version does not ` +
      "know goes through unlisted()",
  );
}

let all: ReadonlySet<string> | null = null;

/** Every pattern there is, from the tables. */
function listed(): ReadonlySet<string> {
  return all ??= new Set(["*", ...everyPattern()]);
}

function* everyPattern(): Generator<string> {
  const verification = Object.keys(lkycMachine.states);
  const ban = Object.keys(banMachine.states);
  const both = ["claimed", "confirmed", "*"];
  const machines: readonly (readonly [
    machine: string,
    trusts: readonly string[],
    states: readonly string[],
  ])[] = [
    ["order", ["release"], RELEASE_ENTRIES],
    ["order", ["witness"], VERDICTS],
    ["order", both, Object.keys(orderMachine.states)],
    ["user.lkyc", both, verification],
    ["user.fkyc", both, verification],
    ["user.ban", ["confirmed", "*"], ban],
    ["user.*", both, verification],
    ["user.*", ["confirmed", "*"], ban],
  ];
  for (const [machine, trusts, states] of machines) {
    for (const trust of trusts) {
      for (const state of [...states, "*"]) {
        yield `${machine}.${trust}.${state}`;
      }
    }
  }
}
