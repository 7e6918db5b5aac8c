import type { HealthLevel } from "../../../resources/health/conditions.ts";
import { type Finding, stands } from "../../../resources/health/finding.ts";
import {
  HEALTH_PARTS,
  type HealthPartName,
  SUBJECTS,
} from "../../../resources/health/subjects.ts";

/** One part of the health bar. */
export interface HealthPart {
  /** Its name. */
  readonly name: HealthPartName;
  /** How well it is: as its worst finding, else as its first. */
  readonly level: HealthLevel;
  /** What was found of it, what stands first. */
  readonly findings: readonly Pick<
    Finding,
    "code" | "level" | "since" | "detail" | "next"
  >[];
}

/** The parts of the health bar, made of what was found. */
export function healthParts(
  findings: readonly Finding[],
): readonly HealthPart[] {
  return HEALTH_PARTS.map((name) => {
    const own = findings.filter(({ subject }) =>
      SUBJECTS[subject].part === name
    );
    const told = own.filter(stands).toSorted((a, b) =>
      Number(b.level === "problem") - Number(a.level === "problem")
    );
    const shown = told.length > 0 ? told : own;
    return {
      name,
      level: shown[0]?.level ?? "skipped",
      findings: shown.map(({ code, level, since, detail, next }) => ({
        ...{ code, level, since, detail, next },
      })),
    };
  });
}
