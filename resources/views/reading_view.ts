import {
  ASSUMPTION_NAMES,
  type AssumptionName,
  ASSUMPTIONS,
  type SeenBy,
  type SilentAssumption,
} from "../../core/assumptions/assumptions.ts";
import {
  ASSUMPTION_RISK_WORDS,
  ASSUMPTION_WORDS,
} from "../wording/service/assumptions.ts";
import { READING_WORDS } from "../wording/service/reading.ts";
import type { WordTable } from "./table.ts";
import { wrap } from "./text.ts";

/** The flag of `rampkit conform` that shows an assumption; null where none does. */
const CONFORM_FLAG: Readonly<Record<SeenBy, string | null>> = {
  reading: "",
  ledger: "",
  session: " --create-session",
  wrong_key: " --wrong-key",
  test_event: " --wait-for-test",
  failing_delivery: null,
  widget: null,
  person: null,
};

const COLUMNS = 80;

/** A section for each place in which the description is silent, as Markdown. */
export function readingSections(): string {
  return ASSUMPTION_NAMES.filter(isSilent).map((name) => {
    const { title, silence, taken, why, ifWrong } = READING_WORDS[name];
    const { code: [symbol, file], seenBy } = ASSUMPTIONS[name];
    const flag = CONFORM_FLAG[seenBy];
    const items = [
      `We assume: ${taken}`,
      `Why: ${why}`,
      `If wrong: ${ifWrong}`,
      ...flag === null ? [] : [`Seen by: \`rampkit conform${flag}\`.`],
      `Code: \`${symbol}\` in \`${file}\`.`,
    ].map((text) => wrap(`- ${text}`, COLUMNS, 2));
    return `## ${title}\n\n${wrap(silence, COLUMNS, 0)}\n\n${
      items.join("\n")
    }\n`;
  }).join("\n");
}

function isSilent(name: AssumptionName): name is SilentAssumption {
  return ASSUMPTIONS[name].from === "silent";
}

/** Every row of `rampkit conform`, for those who read what it found. */
export function conformTable(): WordTable {
  return {
    head: ["Row", "What is assumed", "Seen", "Code that uses it", "At risk"],
    rows: ASSUMPTION_NAMES.map((name) => {
      const { code: [symbol, file], risk, seenBy } = ASSUMPTIONS[name];
      return [
        `\`${name}\``,
        ASSUMPTION_WORDS[name],
        SEEN[seenBy],
        `\`${symbol}\` in \`${file}\``,
        ASSUMPTION_RISK_WORDS[risk],
      ];
    }),
  };
}

const SEEN: Readonly<Record<SeenBy, string>> = {
  reading: "by reading",
  ledger: "in the ledger",
  session: "`--create-session`",
  wrong_key: "`--wrong-key`",
  test_event: "`--wait-for-test`",
  failing_delivery: "never",
  widget: "never",
  person: "never",
};
