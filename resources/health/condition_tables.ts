import type { WordTable } from "../views/table.ts";
import { ALARM_CODES, CONDITIONS, STANDING_CODES } from "./conditions.ts";
import { SUBJECTS } from "./subjects.ts";

const quoted = (text: string) => `\`${text}\``;

/** Every condition that can stand, for who is on call. */
export function conditionsTable(): WordTable {
  return {
    head: ["Code", "Check", "Level", "Alarm", "What it means", "What to do"],
    rows: STANDING_CODES.map((code) => {
      const { subject, level, means, next } = CONDITIONS[code];
      const { name } = SUBJECTS[subject];
      const shown = code === "not_looked_at" ? "any" : quoted(name);
      const alarm = ALARM_CODES.includes(code) ? "yes" : "no";
      return [
        quoted(code),
        shown,
        level,
        alarm,
        means,
        next ?? "Follow the advice in the message",
      ];
    }),
  };
}

/** What may be sent as an alarm, by what is looked at. */
export function alarmsTable(): WordTable {
  const bySubject = Map.groupBy(
    ALARM_CODES,
    (code) => CONDITIONS[code].subject,
  );
  return {
    head: ["Subject", "One per machine", "Codes"],
    rows: [...bySubject].map(([subject, codes]) => [
      quoted(subject),
      SUBJECTS[subject].isLocal === true ? "yes" : "no",
      codes.map(quoted).join(", "),
    ]),
  };
}
