import { closest } from "../../core/text.ts";
import type { OrderStatus } from "../../core/wire/objects.ts";
import {
  RELEASE_ENTRIES,
  type ReleaseEntry,
  transitionName,
  type Trust,
} from "./transition.ts";
import {
  banMachine,
  type BanName,
  lkycMachine,
  orderMachine,
  type VerificationName,
} from "./machine.ts";
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
type Matchable = Parameters<typeof transitionName>[0];

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
  parse(pattern);
  return Object.freeze({ unlisted: pattern });
}

export function patternText(pattern: Pattern): string {
  return typeof pattern === "string" ? pattern : pattern.unlisted;
}

/**
 * Makes a predicate of patterns, of which any may match.
 *
 * @throws {TypeError} When a pattern is none, and names the closest; or when there is
 * none.
 */
export function matcher(
  on: Pattern | readonly Pattern[],
): (transition: Matchable) => boolean {
  const patterns = [on].flat();
  if (patterns.length === 0) {
    throw new TypeError("Cannot subscribe to nothing: `on` is empty");
  }
  for (const one of patterns) {
    if (typeof one === "string" && !LISTED.has(one)) refuse(one);
  }
  return matching(patterns.map(patternText));
}

/** The same of texts that were checked when they were stored. */
export function matching(
  texts: readonly string[],
): (transition: Matchable) => boolean {
  const patterns = texts.map(parse);
  return (transition) => {
    const { entity, machine, trust, status } = transitionName(
      transition,
    );
    const name = [entity, machine, trust, status];
    return patterns.some((pattern) =>
      pattern.every((part, at) => part === "*" || part === name[at])
    );
  };
}

// A status not known here may hold dots, so all after the trust is status.
const FORM =
  /^(?:order\.(release|witness|\*|claimed|confirmed)|user\.(\*|lkyc|fkyc|ban)\.(\*|claimed|confirmed))\.(.+)$/s;

/** Entity, machine, trust and status. */
function parse(pattern: string): readonly string[] {
  if (pattern === "*") return ["*", "*", "*", "*"];
  const [, of, machine = "", trust = "", status] = FORM.exec(pattern) ?? [];
  if (status === undefined) refuse(pattern);
  if (of === undefined) return ["user", machine, trust, status];
  if (of !== "release" && of !== "witness") {
    return ["order", "order", of, status];
  }
  return LISTED.has(pattern) ? ["order", of, of, status] : refuse(pattern);
}

function refuse(pattern: string): never {
  throw new TypeError(
    `Wrong pattern: ${JSON.stringify(pattern)}; the closest is ` +
      `"${closest(pattern, LISTED)}"; a status that this version does not ` +
      "know goes through unlisted()",
  );
}

const BOTH = ["claimed", "confirmed", "*"];
const CONFIRMED = ["confirmed", "*"];
const VERIFICATION = Object.keys(lkycMachine.states);
const BAN = Object.keys(banMachine.states);

/** Every pattern there is, from the tables. */
const LISTED: ReadonlySet<string> = new Set([
  "*",
  ...([
    ["order", ["release"], RELEASE_ENTRIES],
    ["order", ["witness"], VERDICTS],
    ["order", BOTH, Object.keys(orderMachine.states)],
    ["user.lkyc", BOTH, VERIFICATION],
    ["user.fkyc", BOTH, VERIFICATION],
    ["user.ban", CONFIRMED, BAN],
    ["user.*", BOTH, VERIFICATION],
    ["user.*", CONFIRMED, BAN],
  ] as const).flatMap(([machine, trusts, states]) =>
    trusts.flatMap((trust) =>
      [...states, "*"].map((state) => `${machine}.${trust}.${state}`)
    )
  ),
]);
