import type { WitnessRule } from "../../core/chain/verdict.ts";
import { laterTime } from "./time.ts";
import { filledText } from "./fact_text.ts";
import { normaliseTime } from "../../core/time/service_time.ts";

/** A rule, and from when it applies. */
export interface WitnessRuleChange {
  /**
   * It applies to orders that began then or later, UTC ISO 8601 in whole
   * seconds.
   */
  readonly from: string;
  /** The rule. */
  readonly rule: WitnessRule;
  /** When this ledger learnt it, UTC ISO 8601 with milliseconds. */
  readonly recordedAt: string;
  /** Digest of the event's body. */
  readonly digest: string;
}

/** Body of `witness_required`: since when the chain is asked for, or until when. */
export type WitnessRequiredBody =
  | {
    /** Orders that began then or later wait for the chain, UTC ISO 8601. */
    readonly since: string;
    /** Release of an order whose transaction cannot be looked up. */
    readonly unsupported: "yes" | "wait";
  }
  | {
    /** Orders that began then or later do not wait for it, UTC ISO 8601. */
    readonly until: string;
  };

/** The body by which a rule holds from a time on. */
export function witnessRuleBody(
  rule: WitnessRule,
  from: string,
): WitnessRequiredBody {
  return rule === "off"
    ? { until: from }
    : { since: from, unsupported: rule === "supported" ? "yes" : "wait" };
}

/**
 * Reads that body. A rule changes no order that had begun before it was recorded.
 * Null when it states no time.
 */
export function readWitnessRule(
  { since, until, unsupported }: Readonly<Record<string, unknown>>,
  { recordedAt, digest }: Pick<WitnessRuleChange, "recordedAt" | "digest">,
): WitnessRuleChange | null {
  const stated = normaliseTime(filledText(since) ?? filledText(until));
  if (stated === null) return null;
  const rule = filledText(since) === null
    ? "off"
    : unsupported === "yes"
    ? "supported"
    : "all";
  const from = nextSecond(laterTime(stated, recordedAt));
  return { from, rule, recordedAt, digest };
}

/**
 * A time, or the next whole second: the service states when an order began in
 * those.
 */
export function nextSecond(time: string): string {
  const second = new Date(Math.ceil(Date.parse(time) / 1000) * 1000);
  return second.toISOString().replace(".000Z", "Z");
}
