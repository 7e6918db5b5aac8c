import {
  type ConditionCode,
  CONDITIONS,
  type HealthLevel,
  type Subject,
  SUBJECTS,
} from "./conditions.ts";

/** Figures and words behind a finding; never a secret, never a person. */
export type HealthFacts = Readonly<Record<string, string | number | null>>;

/** What a look found: plain data. */
export interface Finding {
  /** What was looked at. */
  readonly subject: Subject;
  /** What was found. */
  readonly code: ConditionCode;
  /** How much it matters. */
  readonly level: HealthLevel;
  /** Which of several it is about, for example a receiver; else null. */
  readonly about: string | null;
  /** Since when, UTC ISO 8601; null where that is not known. */
  readonly since: string | null;
  /** The finding, in one sentence. */
  readonly detail: string;
  /** What to do; null where there is nothing to do. */
  readonly next: string | null;
  /** Figures and words behind it. */
  readonly facts: HealthFacts;
}

/** Checks the health of everything. */
export type LookAtHealth = () => Promise<readonly Finding[]>;

/** What a look knows beyond the table. */
export interface FoundOptions {
  /**
   * What was checked, for a condition of several subjects.
   *
   * @default {by the table}
   */
  readonly subject?: Subject;
  /** Which of several it is about. @default {none} */
  readonly about?: string;
  /** Since when. @default {not known} */
  readonly since?: string | null;
  /** The sentence, where the table's is no longer true. @default {the table's} */
  readonly means?: string;
  /** What completes the sentence. @default {nothing} */
  readonly more?: string;
  /** What to do, where it depends on the facts. @default {by the table} */
  readonly next?: string;
  /** Figures and words behind it. @default {none} */
  readonly facts?: HealthFacts;
}

/** Makes a finding of a condition. */
export function found(
  code: ConditionCode,
  { subject, about, since, means, more, next, facts }: FoundOptions = {},
): Finding {
  const row = CONDITIONS[code];
  const said = means ?? row.means;
  return {
    subject: subject ?? row.subject,
    code,
    level: row.level,
    about: about ?? null,
    since: since ?? null,
    detail: more === undefined ? said : `${said}: ${more}`,
    next: next ?? row.next ?? null,
    facts: facts ?? {},
  };
}

/** Whether a finding is of something that a person should know. */
export function stands({ level }: Pick<Finding, "level">): boolean {
  return level === "problem" || level === "warning";
}

/**
 * Merges what several looks found, by subject: standing problems, each once;
 * without any, what was found instead.
 */
export function gathered(
  looks: readonly (readonly Finding[])[],
): readonly Finding[] {
  const all = looks.flat();
  const order = Object.keys(SUBJECTS);
  return [...Map.groupBy(all, ({ subject }) => subject).values()]
    .flatMap((some) => {
      const standing = some.filter(stands);
      const listed = standing.length > 0 ? standing : some;
      const byName = Map.groupBy(
        listed,
        ({ code, about }) => `${code} ${about}`,
      );
      return [...byName.values()].flatMap((same) => same.slice(0, 1));
    })
    .sort((a, b) => order.indexOf(a.subject) - order.indexOf(b.subject));
}

/** What was found, or that it could not be checked. */
export async function lookedAt(
  subject: Subject,
  look: () => Promise<readonly Finding[]> | readonly Finding[],
): Promise<readonly Finding[]> {
  try {
    return await look();
  } catch (error) {
    const more = error instanceof Error ? error.message : String(error);
    return [found("not_looked_at", { subject, more })];
  }
}

/** One finding, as `doctor` and `/v1/status` show it. */
export interface Check {
  /** The subject of the check. */
  readonly name: string;
  /**
   * - `ok`: as it should be.
   * - `warn`: works, and a person should know.
   * - `fail`: does not work.
   * - `skip`: could not be looked at; `detail` says why.
   */
  readonly status: "ok" | "warn" | "fail" | "skip";
  /** What was found; docs/reference/health.md says what each means. */
  readonly code: ConditionCode;
  /** Since when, UTC ISO 8601; null where that is not known. */
  readonly since: string | null;
  /** The finding, in one sentence. */
  readonly detail: string;
  /** What to do about it; absent when there is nothing to do. */
  readonly advice?: string;
}

const STATUS: Readonly<Record<HealthLevel, Check["status"]>> = {
  problem: "fail",
  warning: "warn",
  fine: "ok",
  skipped: "skip",
};

/** A finding as `doctor` and `/v1/status` show it. */
export function checkOf(
  { subject, code, level, since, detail, next }: Finding,
): Check {
  return {
    name: SUBJECTS[subject].name,
    status: STATUS[level],
    code,
    since,
    detail,
    ...(next === null ? {} : { advice: next }),
  };
}

/** What stands, as `/readyz` shows it. */
export interface StandingCondition {
  /** What it is; docs/reference/health.md says what each means. */
  readonly code: ConditionCode;
  /** How much it matters. */
  readonly level: HealthLevel;
  /** Since when, UTC ISO 8601; null where that is not known. */
  readonly since: string | null;
}
